import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { viewOf } from '../../../src/facts/view.ts'
import { linkedFacts, readLinked } from '../../../src/tasks/agent/linked.ts'
import { type HostLiteral, hostState } from '../host-state.ts'

const slots = '/usr/local/lib/aks-flex-node/aks-flex-node-'
const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const host = (listed: readonly string[], more: HostLiteral['paths'] = {}, noexec = false): HostLiteral => ({
  paths: {
    [`${slots}current`]: { link: `${slots}green` },
    [`${slots}last-good`]: { link: `${slots}blue` },
    [`${slots}green`]: { file: 'new' },
    [`${slots}blue`]: { file: 'old' },
    '/etc/aks-flex-node/host-root-agents': { file: listed.map((text) => `${digest(text)}\n`).join('') },
    ...more,
  },
  mounts: { '/opt/unbounded': { noexec } },
})
const signal = { '/etc/aks-flex-node/agent-upgrade-signal.json': { file: '{}' } }

test.each([
  ['waiting-for-release', host([])],
  ['waiting-for-release', host(['new'])],
  ['waiting-for-release', host(['new', 'old'], { [`${slots}last-good`]: 'absent' })],
  ['waiting-for-upgrade', host(['new', 'old'], signal)],
  ['blocked-noexec', host(['new', 'old'], {}, true)],
  ['ready', host(['new', 'old'])],
])('%s', (because, literal) => expect(readLinked(viewOf(hostState(literal, linkedFacts())))).toBe(because))
