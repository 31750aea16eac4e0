import fc from 'fast-check'
import type { Change, Condition } from '../../src/changes/change.ts'
import { Secret } from '../../src/secret.ts'

/** Long and unlike anything else, so that finding a part of it anywhere means that it got there. */
export const secretText = fc
  .tuple(
    fc.string({ minLength: 12, maxLength: 30, unit: fc.constantFrom(...'QXZJKVqxzjkv') }),
    fc.string({ maxLength: 20 }),
  )
  .map(([head, tail]) => head + tail.replaceAll('\0', '').toWellFormed())

export const anyPath = fc
  .array(fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }), { minLength: 1, maxLength: 4 })
  .map(
    (names) =>
      `/${names
        .map((name) => name.replaceAll(/[/\0]/g, '-').toWellFormed())
        .map((name) => (/^\.\.?$/.test(name) ? '-' : name))
        .join('/')}`,
  )

/** Any text a file may hold; half surrogate pairs have no bytes. */
export const anyText = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed())

const mode = fc.constantFrom(0, 0o600, 0o644, 0o755, 0o2755, 0o4755, 0o1777)
const owner = fc.constantFrom('root:root', '0:0', 'core:adm')
const unit = fc.constantFrom('a.service', 'b.target', 'x@y.service')

const anyCondition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ unit, is: fc.constant('active' as const) }),
  fc.record({ unit, is: fc.constant('untouched' as const), mainPid: fc.constantFrom('1', '77') }),
  fc.record({ machine: fc.constantFrom('kube1'), is: fc.constant('running' as const) }),
  fc.record({ unit, is: fc.constant('startable' as const), below: fc.nat(9), windowS: fc.nat(999) }),
)

const verb = fc.constantFrom('start', 'stop', 'restart', 'enable', 'disable', 'reset-failed') as fc.Arbitrary<'start'>

/** A change of any kind. Contents are what `content` makes. */
export const anyChange = (content: fc.Arbitrary<string | Secret> = anyText): fc.Arbitrary<Change> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), path: anyPath, content, mode, owner }) },
    fc.record({ kind: fc.constant('link' as const), path: anyPath, target: anyPath }),
    fc.record({ kind: fc.constant('directory' as const), path: anyPath, mode, owner }),
    fc.record({ kind: fc.constant('attributes' as const), path: anyPath, mode, owner }),
    fc.record({ kind: fc.constant('remove' as const), path: anyPath, recurse: fc.boolean() }),
    fc.constant({ kind: 'systemctl' as const, verb: 'daemon-reload' as const }),
    fc.record({ kind: fc.constant('systemctl' as const), verb, unit }),
    fc.record({
      kind: fc.constant('package' as const),
      install: fc.array(fc.constantFrom('curl', 'nftables'), { minLength: 1 }),
      manager: fc.constantFrom('apt' as const, 'dnf' as const),
    }),
    fc.record({
      kind: fc.constant('await' as const),
      condition: anyCondition,
      withinMs: fc.nat(99_999),
      stableMs: fc.nat(99_999),
    }),
    fc.record({
      kind: fc.constant('run' as const),
      argv: fc.array(fc.string(), { minLength: 1 }),
      timeoutMs: fc.nat(99_999),
      spoils: fc.constant([]),
    }),
  )

export const anySecret = secretText.map((text) => new Secret(text))
