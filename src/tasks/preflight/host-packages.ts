import { fault, fine, warning } from '../agent/finding.ts'
import type { Check } from './check.ts'
import { canInstall, missingPackages, packageFacts } from './installable.ts'

const check = 'host-packages'
const target = 'host packages'

export const hostPackages: Check = {
  name: check,
  facts: packageFacts,
  evaluate: (view, context) => {
    const missing = missingPackages(view)
    const list = missing.join(', ')
    if (missing.length === 0) return [fine({ check, target, message: 'all required host packages are present' })]
    if (view.os.family === 'acl') {
      return [
        fault({
          check,
          target,
          message: `required host packages are missing from the image, and nothing can be installed on this host: ${list}`,
          remedy: `Provision the host from an image that holds ${list}.`,
        }),
      ]
    }
    if (context.offline) {
      return [
        fault({
          check,
          target,
          message: `required host packages are missing and cannot be installed automatically when OfflineArtifacts is configured: ${list}`,
          remedy: `Install ${list} on the host.`,
        }),
      ]
    }
    if (!canInstall(view)) {
      return [
        fault({
          check,
          target,
          message: `required host packages are missing and the host has no package manager: ${list}`,
          remedy: `Bring the programs of ${list} onto the host.`,
        }),
      ]
    }
    // Word for word what the agent says (PR #437).
    const message = `required host packages are missing and may be installed by bootstrap: ${list}`
    return [warning({ check, target, message, remedy: `Nothing to do online; or install ${list} yourself.` })]
  },
}
