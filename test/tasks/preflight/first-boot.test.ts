import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mergeFacts } from '../../../src/facts/fact.ts'
import { viewOf } from '../../../src/facts/view.ts'
import { loadPlaybook } from '../../../src/playbook/load.ts'
import type { When } from '../../../src/playbook/playbook.ts'
import { evaluateWhen, whenFacts } from '../../../src/playbook/when.ts'
import { pathAbsent } from '../../../src/tasks/general/path-absent.ts'
import { tasks } from '../../../src/tasks/registry.ts'
import { aHost, runningHost } from '../deployed.ts'
import { paramsOf, planOn, resultOf } from '../general/planning.ts'
import { type HostLiteral, hostState } from '../host-state.ts'
import { findingsOf, freshHost } from './checked.ts'

/** Rule W8: drover tells of the leftovers; removing them is the operator's word, in the playbook that the docs show. */
const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
const example = /```yaml\n(# first-boot-gone\.yaml\n.*?)```/s.exec(page)?.[1] ?? ''
const playbook = loadPlaybook('p.yaml', {
  shippedDir: '/shipped',
  cwd: '/here',
  tasks,
  readFile: () => Buffer.from(example),
})

const directory = '/etc/aks-flex-node/first-boot'
const left = { [directory]: { dir: ['token'] } } as const
const mounts: HostLiteral['commands'] = [[['cut', '-d', ' ', '-f', '5', '/proc/self/mountinfo'], { stdout: '/\n' }]]
const bootstrap = (ActiveState: string) => ({ 'aks-flex-node-bootstrap.service': { ActiveState } })

const outcome = (literal: HostLiteral): unknown => {
  const [step] = playbook.steps
  if (step === undefined) return 'no step'
  const params = paramsOf(pathAbsent, { path: directory, recurse: true })
  expect(step).toMatchObject({ task: 'path-absent', when: expect.anything() })
  const when = step.when as When
  const state = hostState(literal, mergeFacts([...whenFacts(when), ...pathAbsent.facts(params, aHost())]))
  const isDue = evaluateWhen(when, aHost(), viewOf(state))
  return isDue === true ? resultOf(planOn(pathAbsent, params, state)) : isDue
}

test('what the finding names is what the example of docs/operations.md removes', () => {
  const host = runningHost({ paths: left, units: bootstrap('inactive'), commands: mounts })
  expect(findingsOf(freshHost(host), 'first-boot-secrets-left')).toMatchObject([
    { severity: 'warning', target: directory },
  ])
  expect(example).toContain(`with: { path: ${directory}, recurse: true }`)
  expect(outcome(host)).toEqual([`remove ${directory} and all in it`])
})

test('and not while bootstrap is at work or the agent is down', () => {
  expect(outcome(runningHost({ paths: left, units: bootstrap('activating'), commands: mounts }))).toEqual({
    skipped: 'ActiveState of aks-flex-node-bootstrap.service is activating, not inactive',
  })
  expect(outcome({ paths: left, units: bootstrap('inactive'), commands: mounts })).toMatchObject({
    skipped: expect.stringMatching(/^ActiveState of aks-flex-node-agent.service is /),
  })
})
