import { configFacts, readConfig } from '../agent/config.ts'
import { fault } from '../agent/finding.ts'
import { deploymentFindings, findingsFacts } from '../agent/findings.ts'
import { configFile } from '../agent/paths.ts'
import { isRoot } from '../agent/visible.ts'
import type { Check } from './check.ts'

/** Rules W6 and W8: they have something to say or nothing. */
export const deploymentNotes: Check = {
  name: 'deployment-findings',
  facts: findingsFacts,
  evaluate: (view, context) => deploymentFindings(view, context.host),
}

export const configReadable: Check = {
  name: 'config-valid',
  facts: configFacts,
  evaluate: (view) => {
    const config = isRoot(view) ? readConfig(view) : null
    return config?.is === 'invalid'
      ? [
          fault({
            check: 'config-valid',
            target: configFile,
            message: config.error,
            remedy: `Correct ${configFile}: the agent cannot start with it.`,
          }),
        ]
      : []
  },
}
