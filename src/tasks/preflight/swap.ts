import { fine, warning } from '../agent/finding.ts'
import { keyValues } from '../agent/probe-answer.ts'
import type { Check } from './check.ts'

const check = 'swap-active'
const target = 'swap'

export const swapInactive: Check = {
  name: check,
  facts: () => [{ kind: 'probe', name: 'swap' }],
  evaluate: (view, context) => {
    const answer = keyValues(view.probe('swap').stdout)
    switch (answer.get('swap')) {
      case 'none':
        return [fine({ check, target, message: 'no swap is active' })]
      case 'active':
        return [
          context.deployed
            ? warning({
                check,
                target,
                message: `swap is active on a deployed host: ${answer.get('area')}`,
                remedy: 'Switch it off with `swapoff -a` and look at /etc/fstab.',
              })
            : warning({
                check,
                target,
                message: `swap is active: ${answer.get('area')}; bootstrap will switch it off`,
                remedy: 'Nothing to do, unless something else needs swap.',
              }),
        ]
      default:
        return [
          warning({
            check,
            target,
            message: 'whether swap is active is unknown',
            remedy: 'Look at /proc/swaps on the host.',
          }),
        ]
    }
  },
}
