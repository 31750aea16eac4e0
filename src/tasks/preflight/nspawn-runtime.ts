import type { Fact } from '../../facts/fact.ts'
import { fault, fine, warning } from '../agent/finding.ts'
import type { Finding } from '../task.ts'
import type { Check } from './check.ts'
import { canInstall, packageFacts } from './installable.ts'

const check = 'nspawn-runtime'
const target = 'systemd-nspawn'
const tools = ['systemctl', 'machinectl', 'systemd-nspawn']

export const nspawnRuntime: Check = {
  name: check,
  facts: () => [...tools.map((name): Fact => ({ kind: 'program', name })), ...packageFacts()],
  evaluate: (view, context) => {
    const missing = tools.filter((name) => view.program(name) === null).join(', ')
    const findings: Finding[] = []
    if (missing !== '') {
      findings.push(
        canInstall(view) && !context.offline
          ? warning({
              check,
              target,
              message: `${missing} missing; bootstrap may install it`,
              remedy: 'Nothing to do online; or install systemd-container.',
            })
          : fault({
              check,
              target,
              message: `${missing} missing, and bootstrap cannot install it here`,
              remedy: 'Bring systemd-container onto the host.',
            }),
      )
    }
    if (!view.os.isSystemd) {
      const message = 'systemd is not the init of this host: there is no /run/systemd/system'
      findings.push(warning({ check, target, message, remedy: 'Boot the host with systemd.' }))
    }
    return findings.length > 0 ? findings : [fine({ check, target, message: 'machines can be run' })]
  },
}
