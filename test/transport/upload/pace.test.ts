import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createGate } from '../../../src/transport/upload/gate.ts'
import { acknowledgedBytes, paceOf } from '../../../src/transport/upload/pace.ts'

const mib = 1024 * 1024
const sizes = fc.record({
  file: fc.integer({ min: 0, max: 256 * mib }),
  share: fc.double({ min: 0.01, max: 1, noNaN: true }),
})

test('of an upload of some size less than a twentieth is on its way at a time', () => {
  fc.assert(
    fc.property(sizes, ({ file, share }) => {
      const encoded = Math.floor(file * share)
      const { windowBytes } = paceOf(encoded, file)
      if (encoded >= 8 * mib) expect(windowBytes).toBeLessThanOrEqual(encoded * 0.035)
      if (file >= 2 * mib) expect(windowBytes).toBeLessThanOrEqual(file * 0.035)
    }),
  )
})

test('a small one is not held up at every step', () => {
  expect(paceOf(1000, 1000).windowBytes).toBe(64 * 1024)
  expect(paceOf(2 * mib, 60 * mib).windowBytes).toBe(256 * 1024)
})

test('however slow it is, the host says something every other second, if it has the rate for itself', () => {
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 1e9 }), ({ file, share }, bytesPerS) => {
      const encoded = Math.floor(file * share)
      const { pieceBytes, windowBytes } = paceOf(encoded, file, bytesPerS)
      expect(pieceBytes).toBeLessThanOrEqual(Math.max(4096, bytesPerS * 2))
      expect(pieceBytes % 4096).toBe(0)
      expect(pieceBytes).toBeGreaterThan(0)
      expect(windowBytes).toBe(paceOf(encoded, file).windowBytes)
    }),
  )
})

test('whatever the sizes, the sender is never held back while the host has said all it can say', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.integer({ min: 1024, max: 65_536 }), async ({ file, share }, most) => {
      const encoded = Math.floor((file * share) / 64)
      const pace = paceOf(encoded, file / 64)
      const gate = createGate(pace.windowBytes)
      let sent = 0
      while (sent < encoded) {
        const portion = Math.min(most, pace.pieceBytes, encoded - sent)
        let hasPassed = false
        const passed = gate.pass(portion).then(() => {
          hasPassed = true
        })
        await Promise.resolve()
        // Only now does the host speak: of whole pieces, and of the last one.
        if (!hasPassed) {
          const pieces = sent === encoded ? Math.ceil(sent / pace.pieceBytes) : Math.floor(sent / pace.pieceBytes)
          gate.acknowledge(acknowledgedBytes(pieces, pace, encoded))
        }
        await passed
        sent += portion
      }
    }),
    { numRuns: 50 },
  )
})

test('more than a window never waits to be acknowledged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1000 }),
      fc.array(fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constant('taken' as const)), { maxLength: 50 }),
      async (windowBytes, moves) => {
        const gate = createGate(windowBytes)
        let [sent, taken] = [0, 0]
        const sends: Promise<void>[] = []
        for (const move of moves) {
          if (move === 'taken') {
            taken = sent
            gate.acknowledge(taken)
          } else {
            const last = sends.at(-1) ?? Promise.resolve()
            sends.push(
              last.then(async () => {
                if (!(await gate.pass(move))) return
                expect(sent === taken || sent + move - taken <= windowBytes).toBe(true)
                sent += move
              }),
            )
          }
          await new Promise((resolve) => setImmediate(resolve))
        }
        gate.close()
        await Promise.all(sends)
      },
    ),
    { numRuns: 50 },
  )
})

test('a gate that is closed lets nothing more pass', async () => {
  const gate = createGate(10)
  expect(await gate.pass(10)).toBe(true)
  const waiting = gate.pass(1)
  gate.close()
  expect(await waiting).toBe(false)
  expect(await gate.pass(1)).toBe(false)
})
