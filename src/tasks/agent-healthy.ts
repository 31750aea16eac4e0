import { z } from 'zod'
import { mergeFacts } from '../facts/fact.ts'
import { gonePathsFacts } from './switch/gone-paths.ts'
import { invariants } from './switch/invariants.ts'
import { notProved } from './switch/proof.ts'
import { readReady, readyFacts } from './switch/ready.ts'
import { workerBinaryFacts } from './switch/worker-binary.ts'
import { blocked, type Finding, type Planned, satisfied, type Task } from './task.ts'

const params = z.strictObject({})

/** What must hold after any upgrade or rollback, whoever made it (domain.md 7.8). */
export const agentHealthy: Task<z.output<typeof params>> = {
  name: 'agent-healthy',
  summary:
    'The agent runs what its links lead to, could go back to last-good, and the worker has the same binary; nothing is changed.',
  params,
  isCheck: true,
  example: `name: agent-health
description: Is the agent laid out and running as it should?
steps:
  - task: agent-healthy
`,
  facts: () => mergeFacts([...readyFacts(), ...workerBinaryFacts(), ...gonePathsFacts()]),
  plan: (view): Planned => {
    const ready = readReady(view)
    if ('code' in ready) return blocked(ready)
    const findings = [...invariants(view, ready), ...notProved(ready)]
    const broken = findings.filter(({ severity }) => severity === 'error')
    return broken.length === 0 ? satisfied(findings) : unhealthy(broken, findings)
  },
}

const unhealthy = (broken: readonly Finding[], findings: readonly Finding[]): Planned => ({
  status: 'failed',
  error: {
    code: 'agent-unhealthy',
    message: `The agent is not as it must be: ${broken.map(({ message }) => message).join('; ')}.`,
    remedy: broken[0]?.remedy ?? 'Look at the findings.',
  },
  findings,
})
