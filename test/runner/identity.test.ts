import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bootOf, isSameBoot, machineOf, wrongMachine } from '../../src/runner/identity.ts'

const boot = { bootId: '0f3a1f6e-1111-4222-8333-444455556666', pid1Start: '317' }
const machine = { machineId: 'a'.repeat(32), ...boot }
const other = { ...machine, machineId: 'b'.repeat(32) }

describe('what a host says of its boot counts only in the form it has to have', () => {
  test.each([
    ['', '317'],
    ['0f3a1f6e-1111-4222-8333-444455556666\n', '317'],
    ['0F3A1F6E-1111-4222-8333-444455556666', '317'],
    ['sudo: unable to resolve host', '317'],
    [boot.bootId, ''],
    [boot.bootId, '-1'],
    [boot.bootId, '3.5'],
    [boot.bootId, 'x'],
  ])('%j and %j are none', (bootId, pid1Start) => {
    expect(bootOf({ bootId, pid1Start })).toBeNull()
    expect(machineOf({ ...machine, bootId, pid1Start })).toBeNull()
  })
  test('the kernel writes them so', () => expect(bootOf(boot)).toEqual(boot))
  test('no text at all makes an identity of it but the one form', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^[0-9a-f]{32}$/.test(text))
        expect(machineOf({ ...machine, machineId: text })).toBeNull()
      }),
    )
  })
})

test.each(['', 'uninitialized', '0'.repeat(32), 'a'.repeat(31), `${'a'.repeat(32)} `])(
  'the machine-id %j is nobody',
  (machineId) => expect(machineOf({ ...machine, machineId })).toBeNull(),
)

describe('another boot', () => {
  test('has another boot id, or another PID 1, as in a container, where the boot id is the kernel of the machine around it', () => {
    expect(isSameBoot(boot, { ...boot })).toBe(true)
    expect(isSameBoot(boot, { ...boot, pid1Start: '318' })).toBe(false)
    expect(isSameBoot(boot, { ...boot, bootId: boot.bootId.replace('0', '1') })).toBe(false)
  })
})

describe('a later look', () => {
  test('at the same machine is fine, whatever boot it is on', () => {
    expect(wrongMachine(machine, { ...machine, bootId: '', pid1Start: '9' })).toBeNull()
  })
  test('at another machine is refused, and both are named', () => {
    const error = wrongMachine(machine, other)
    expect(error?.code).toBe('wrong-machine')
    expect(error?.message).toContain(machine.machineId)
    expect(error?.message).toContain(other.machineId)
  })
  test('at one that does not say any more who it is is refused, and its words are not repeated', () => {
    const error = wrongMachine(machine, { ...machine, machineId: '\x1b[2Jx' })
    expect(error?.code).toBe('wrong-machine')
    expect(error?.message).not.toContain('\x1b')
  })
  test('at one that never said it is not judged', () => expect(wrongMachine(null, other)).toBeNull())
})
