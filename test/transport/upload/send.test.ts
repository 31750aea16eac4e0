import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { Content } from '../../../src/transport/upload/content.ts'
import { rawFrom } from '../../../src/transport/upload/encodings.ts'
import type { FarSide } from '../../../src/transport/upload/far-side.ts'
import type { Place } from '../../../src/transport/upload/probe.ts'
import { noRateLimit, type RateLimit } from '../../../src/transport/upload/rate-limit.ts'
import { type SendEnd, send } from '../../../src/transport/upload/send.ts'

const never = new AbortController().signal

let content: Content
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const folder = mkdtempSync(join(tmpdir(), 'drover-send-'))
  content = { file: join(folder, 'agent'), sha256: 'a'.repeat(64), size: 5000 }
  writeFileSync(content.file, Buffer.alloc(content.size))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
})
afterEach(() => {
  vi.useRealTimers()
})

const place: Place = {
  directory: '/opt',
  isStaged: false,
  have: 0,
  freeBytes: 1e9,
  freeInodes: null,
  device: '1',
  options: [],
  hasBase: false,
}

/** A host that takes in what comes, and answers when all has come and it is ready to. */
const hostThat = (answered: () => Promise<unknown>): FarSide & { readonly args: string[] } => {
  const args: string[] = []
  return {
    run: 'r1',
    args,
    exec: (script) =>
      new Promise((resolve, reject) => {
        args.push(...script.args)
        script.signal?.addEventListener('abort', () => reject(script.signal?.reason))
        const takeIn = async (): Promise<void> => {
          for await (const _piece of script.payload as AsyncIterable<Uint8Array>);
          await answered()
          resolve({ code: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) })
        }
        takeIn().catch(reject)
      }),
    reconnect: async () => undefined,
  }
}

const sent = async (far: FarSide, rate: RateLimit): Promise<SendEnd> => {
  const upload = { path: '/opt/agent', content, isProgram: true }
  const encoded = rawFrom(content, 0)
  return send(far, { upload, place, from: 0, encoded, rate, signal: never, onSent: () => undefined })
}

const passes = (ms: number) => async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms))

test('a host is not blamed for the time that the rate limit takes', async () => {
  const slow: RateLimit = { portion: 1024, bytesPerS: 5, take: passes(150_000) }
  const far = hostThat(passes(119_000))
  expect(await sent(far, slow)).toEqual({ end: 'staged' })
  // The smallest piece: at this rate the host says of each page that it has it.
  expect(far.args[6]).toBe('4096')
})

test('but for its own', async () => {
  await expect(sent(hostThat(passes(121_000)), noRateLimit)).rejects.toMatchObject({
    code: 'connection-lost',
    message: expect.stringContaining('for 120 s'),
  })
})
