import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Change } from '../../src/changes/change.ts'
import { predict } from '../../src/changes/predict.ts'
import type { Fact } from '../../src/facts/fact.ts'
import { lookUp } from '../../src/facts/tree.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { differences } from '../support/compare.ts'
import { type CoreHost, openCore } from '../support/core.ts'

/** Property: what a change is predicted to do is what the host shows afterwards, for every kind of change. */

let lab: Lab
const hosts = new Map<string, { host: LabHost; core: CoreHost }>()
const images = ['rhel9-like', 'ubuntu-like'] as const

beforeAll(async () => {
  lab = await openLab('prediction', { yes: true })
  for (const image of images) {
    const host = await lab.boot({ name: `p-${image.slice(0, 4)}`, image, agent: 'none', worker: 'none' })
    hosts.set(image, { host, core: await openCore(lab, host) })
  }
}, 300_000)

afterAll(async () => {
  for (const { core } of hosts.values()) await core.close()
  await lab.close()
})

const base = '/srv/prediction'
const names = ['a', 'b', 'c']
// Two levels are enough for every relation there is: parent, child, sibling, through a link.
const paths = [
  ...names.map((name) => `${base}/${name}`),
  ...names.flatMap((one) => names.map((other) => `${base}/${one}/${other}`)),
]
const path = fc.constantFrom(...paths)
const mode = fc.constantFrom(0o600, 0o644, 0o755)
const fileChange: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    path,
    content: fc.string({ unit: 'binary' }).map(wellFormed),
    mode,
    owner: fc.constant('root:root'),
  }),
  fc.record({
    kind: fc.constant('link' as const),
    path,
    target: fc.oneof(path, fc.constantFrom('a', 'b/c', '../prediction/c', 'nowhere')),
  }),
  fc.record({ kind: fc.constant('directory' as const), path, mode, owner: fc.constant('root:root') }),
  fc.record({ kind: fc.constant('remove' as const), path, recurse: fc.constant(true) }),
  fc.record({ kind: fc.constant('attributes' as const), path, mode, owner: fc.constant('root:root') }),
)

function wellFormed(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

const facts: Fact[] = [
  { kind: 'path', path: base },
  ...paths.map((each): Fact => ({ kind: 'path', path: each, content: 4096, sha256: true, entries: true })),
]

describe.each(images)('on %s', (image) => {
  test('files, links and directories end up as predicted, whatever the order', async () => {
    const { host, core } = hosts.get(image) as { host: LabHost; core: CoreHost }
    await fc.assert(
      fc.asyncProperty(fc.array(fileChange, { minLength: 1, maxLength: 12 }), async (wanted) => {
        await host.must('find /srv/prediction -mindepth 1 -delete 2>/dev/null; mkdir -p /srv/prediction')
        const before = await core.inspect(facts)
        let predicted = before
        const changes: Change[] = []
        for (const change of wanted) {
          if (!isPossible(predicted, change)) continue
          changes.push(change)
          predicted = predict(predicted, change)
        }
        fc.pre(changes.length > 0)
        await core.apply(before, changes)
        expect(differences(predicted, await core.inspect(facts), paths)).toEqual([])
      }),
      { numRuns: 25, seed: 437 },
    )
  }, 180_000)

  test('units end up as predicted by start, stop, restart, enable, disable and a reload of a drop-in', async () => {
    const { host, core } = hosts.get(image) as { host: LabHost; core: CoreHost }
    await host.must(`cat >/etc/systemd/system/one.service <<'E'
[Unit]
Wants=two.service
[Service]
ExecStart=/bin/sleep infinity
[Install]
WantedBy=multi-user.target
E
cat >/etc/systemd/system/two.service <<'E'
[Unit]
PartOf=one.service
[Service]
ExecStart=/bin/sleep infinity
E
systemctl daemon-reload`)
    const unitFacts: Fact[] = [
      { kind: 'unit', name: 'one.service' },
      { kind: 'unit', name: 'two.service' },
      { kind: 'unit', name: 'three.service' },
      { kind: 'path', path: '/etc/systemd/system/one.service.d/10-more.conf', content: 100, sha256: true },
    ]
    const up = (unit: string): Change => ({
      kind: 'await',
      condition: { unit, is: 'active' },
      withinMs: 5000,
      stableMs: 0,
    })
    const sequences: Change[][] = [
      [{ kind: 'systemctl', verb: 'start', unit: 'one.service' }, up('one.service'), up('two.service')],
      [{ kind: 'systemctl', verb: 'restart', unit: 'one.service' }, up('one.service')],
      [{ kind: 'systemctl', verb: 'stop', unit: 'one.service' }],
      [{ kind: 'systemctl', verb: 'enable', unit: 'one.service' }],
      [{ kind: 'systemctl', verb: 'disable', unit: 'one.service' }],
      [
        { kind: 'directory', path: '/etc/systemd/system/one.service.d', mode: 0o755, owner: 'root:root' },
        {
          kind: 'write',
          path: '/etc/systemd/system/one.service.d/10-more.conf',
          content: '[Unit]\nWants=three.service\n',
          mode: 0o644,
          owner: 'root:root',
          model: { unit: 'one.service', adds: { Wants: ['three.service'] } },
        },
        { kind: 'systemctl', verb: 'daemon-reload' },
      ],
    ]
    for (const changes of sequences) {
      const before = await core.inspect(unitFacts)
      const predicted = changes.reduce(predict, before)
      await core.apply(before, changes)
      expect(
        differences(predicted, await core.inspect(unitFacts), ['/etc/systemd/system/one.service.d/10-more.conf']),
      ).toEqual([])
    }
  }, 60_000)
})

/** What a task would not plan: a change whose parent is missing, or that would replace something of another kind. */
const isPossible = (state: Parameters<typeof predict>[0], change: Change): boolean => {
  if (!('path' in change)) return true
  const node = lookUp(state.tree, change.path)
  const parent = lookUp(state.tree, change.path.slice(0, change.path.lastIndexOf('/')), true)
  const type = node !== undefined && 'type' in node ? node.type : 'unknown'
  if (parent === undefined || !('type' in parent) || parent.type !== 'directory') return false
  switch (change.kind) {
    case 'write':
    case 'link':
      return type !== 'directory' && type !== 'unknown'
    case 'directory':
      return type === 'absent'
    case 'remove':
      return type !== 'absent' && type !== 'unknown'
    case 'attributes':
      return type === 'file' || type === 'directory'
    default:
      return true
  }
}
