import { fault, fine } from '../agent/finding.ts'
import { isRoot } from '../agent/visible.ts'
import type { Check } from './check.ts'

const check = 'is-privileged-user'
const target = 'host user'

export const privilege: Check = {
  name: check,
  facts: () => [],
  evaluate: (view) => [
    isRoot(view)
      ? fine({ check, target, message: 'drover is root on the host' })
      : fault({
          check,
          target,
          message: `drover is not root on the host but the user with uid ${view.os.uid}`,
          remedy: 'Connect as root, or use --become (-b).',
        }),
  ],
}
