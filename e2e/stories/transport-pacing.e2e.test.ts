import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { addAddresses, knowNames } from '../support/aliases.ts'
import { drover } from '../support/drover.ts'
import { addUser, hostsFile, startSshd, stopSshd } from '../support/sshd.ts'

/** Story: sixty hosts at once, all of which end up at one sshd that takes few logins at a time, or none for a while. */

const count = 60

let lab: Lab
let host: LabHost
let addresses: readonly string[]

beforeAll(async () => {
  lab = await openLab('transport-pacing', { yes: true })
  // OpenSSH 10: it says why it turns somebody away, and has penalties.
  host = await lab.boot({ name: 'crowd', image: 'ubuntu-like' })
  addresses = await addAddresses(host, count)
  await addUser(lab, host, { name: 'stranger', keys: [] })
})

afterAll(() => lab?.close())

interface Row {
  readonly host: string
  readonly status: { readonly verdict: string } | null
  readonly error: { readonly code: string; readonly message: string; readonly remedy: string } | null
}

const named = (port: number, entry: object = {}): Record<string, object> =>
  Object.fromEntries(addresses.map((address, index) => [`h${index}`, { address, port, user: 'root', ...entry }]))

const withSshd = async <T>(port: number, lines: readonly string[], use: () => Promise<T>): Promise<T> => {
  await startSshd(host, { port, lines: ['LogLevel VERBOSE', ...lines] })
  await knowNames(
    lab,
    host,
    addresses.map((address) => `[${address}]:${port}`),
  )
  try {
    return await use()
  } finally {
    await stopSshd(host, port)
  }
}

const status = async (inventory: string, ...args: string[]): Promise<readonly Row[]> => {
  const ended = await drover(lab, ['status', '-o', 'json', '--forks', String(count), ...args], {
    inventory,
    timeoutMs: 150_000,
  })
  if (ended.stdout === '') throw new Error(`drover status said nothing: ${ended.stderr}`)
  return (JSON.parse(ended.stdout) as { hosts: Row[] }).hosts
}

/** How many lines of the sshd's journal hold this. */
const logged = async (port: number, words: string): Promise<number> =>
  Number(await host.must('journalctl --no-pager -q -o cat -u "sshd-$1" | grep -c -- "$2" || :', [String(port), words]))

const transports = ['ssh2', 'openssh'] as const

const inventoryOf = (transport: (typeof transports)[number], port: number, entry: object = {}): string =>
  hostsFile(lab, `pacing-${transport}-${port}`, named(port, entry), { transport })

describe.each(transports)('by %s', (transport) => {
  const port = 2200 + 10 * transports.indexOf(transport)

  test('an sshd with MaxStartups 2:100:2 turns some away, and no host is unreachable', async () => {
    await withSshd(port, ['MaxStartups 2:100:2', 'PerSourcePenalties no'], async () => {
      const rows = await status(inventoryOf(transport, port))
      expect(rows.filter(({ error }) => error !== null)).toEqual([])
      expect(rows).toHaveLength(count)
      const drops = await logged(port, 'drop connection')
      expect(drops).toBeGreaterThan(0)
      // As many at the most as begin at once, and the trials after that.
      expect(drops).toBeLessThan(1.5 * count)
      expect(await logged(port, 'Accepted publickey')).toBe(count)
    })
  })

  test("with OpenSSH's own limit, MaxStartups 10:30:100, neither", async () => {
    await withSshd(port + 1, ['MaxStartups 10:30:100', 'PerSourcePenalties no'], async () => {
      const rows = await status(inventoryOf(transport, port + 1))
      expect(rows.filter(({ error }) => error !== null)).toEqual([])
      expect(rows).toHaveLength(count)
      expect(await logged(port + 1, 'Accepted publickey')).toBe(count)
    })
  })
})

test('an sshd that shuts this machine out after a refused login is waited for, and lets all in', async () => {
  // Most of it is waiting, so both clients wait at a time, each for an sshd of its own.
  const waiting = transports.map(async (transport, index) => {
    const port = 2230 + index
    await withSshd(port, ['PerSourcePenalties authfail:6s min:5s'], async () => {
      const [refused] = await status(inventoryOf(transport, port, { user: 'stranger' }), '-l', 'h0')
      expect(refused?.error?.code).toBe('auth-failed')
      const rows = await status(inventoryOf(transport, port), '-l', 'h1,h2,h3,h4')
      expect(rows.map(({ error }) => error)).toEqual([null, null, null, null])
      expect(await logged(port, 'penalty')).toBeGreaterThan(0)
      expect(await logged(port, 'Accepted publickey')).toBe(4)
    })
  })
  for (const one of await Promise.allSettled(waiting)) expect(one).toMatchObject({ status: 'fulfilled' })
})
