import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { Secret } from '../../src/secret.ts'
import { agent, archive, directory, noNetwork, program, release, sha256, workstation } from './made.ts'
import { type Answer, breaksOff, drips, gives, hangs, says, serve } from './server.ts'

const url = 'https://releases.test/v1/agent?sig=hush'
const source = { url, sha256: sha256(agent) }
const patience = { idleMs: 10_000, wholeMs: 20_000, pausesMs: [1, 1, 1] }

describe('a download', () => {
  test('is asked for whole and as it is, and its query goes to nobody but the server', async () => {
    const server = await serve((response, request) => {
      expect(request.headers['accept-encoding']).toBe('identity')
      gives(agent)(response, request)
    })
    const here = workstation(server)
    const { binaries } = await here.fetch(release(source))
    expect(readFileSync(binaries?.amd64?.file ?? '').equals(agent)).toBe(true)
    expect(server.requests).toEqual(['/v1/agent?sig=hush'])
    expect(here.told).toEqual([`agent v1.2.3 for amd64: ${agent.length} bytes from https://releases.test/v1/agent`])
  })
  test('of a secret URL shows nothing but the host', async () => {
    const server = await serve(gives(agent))
    const here = workstation(server)
    await here.fetch(release({ ...source, url: new Secret(url) }))
    expect(here.told).toEqual([`agent v1.2.3 for amd64: ${agent.length} bytes from https://releases.test/[secret]`])
  })
  test('may be led elsewhere, and goes there with what it was told', async () => {
    const server = await serve(
      says(302, { location: '/elsewhere?token=hush' }),
      says(307, { location: 'https://releases.test/at/last' }),
      gives(await archive({ content: agent })),
    )
    const packed = sha256(await archive({ content: agent }))
    await workstation(server).fetch(release({ url, sha256: packed }))
    expect(server.requests).toEqual(['/v1/agent?sig=hush', '/elsewhere?token=hush', '/at/last'])
  })
  test.each<[string, Answer[]]>([
    ['the server fails', [says(500), says(503), gives(agent)]],
    ['it has too much to do', [says(429), gives(agent)]],
    ['the connection breaks in the middle', [breaksOff(agent), gives(agent)]],
    ['it breaks before an answer', [(response) => void response.destroy(), gives(agent)]],
    ['it fails three times', [says(500), breaksOff(agent), says(502), gives(agent)]],
  ])('is tried again where %s', async (_, answers) => {
    const server = await serve(...answers)
    const { binaries } = await workstation(server).fetch(release(source))
    expect(binaries?.amd64?.sha256).toBe(sha256(agent))
    expect(server.requests).toHaveLength(answers.length)
  })
  test('is tried again where nothing comes any more', async () => {
    const server = await serve(hangs(agent), gives(agent))
    const here = workstation({ ...server, patience: { ...patience, idleMs: 200 } })
    await here.fetch(release(source))
    expect(server.requests).toHaveLength(2)
  })
  test('may take longer than it may be silent', async () => {
    const server = await serve(drips(agent, 100))
    const here = workstation({ ...server, patience: { idleMs: 1_000, wholeMs: 20_000, pausesMs: [] } })
    const { binaries } = await here.fetch(release(source))
    expect(binaries?.amd64?.sha256).toBe(sha256(agent))
  })
})

const unavailable = 'release-unavailable'

describe('a download is given up', () => {
  const away = (location: string): Answer => says(302, { location })
  test.each<[string, Answer[], string, string?]>([
    ['there is nothing', [says(404)], 'the server answered 404.', unavailable],
    ['it is forbidden', [says(403)], 'the server answered 403.', unavailable],
    [
      'the server goes on failing',
      [says(500), says(500), says(500), says(500)],
      'it could not be downloaded: the server answered 500, at try 4.',
      unavailable,
    ],
    [
      'it breaks off each time',
      Array.from({ length: 4 }, () => breaksOff(agent)),
      'it could not be downloaded: the connection broke in the middle (UND_ERR_SOCKET), at try 4.',
      unavailable,
    ],
    [
      'it leads away from HTTPS',
      [away('http://releases.test/plain?sig=hush')],
      'the server leads to http://releases.test, which is not plain HTTPS.',
      unavailable,
    ],
    [
      'it leads to a file',
      [away('file:///etc/shadow?sig=hush')],
      'the server leads to file://, which is not plain HTTPS.',
      unavailable,
    ],
    [
      'it leads to one with a password',
      [away('https://me:hush@releases.test/')],
      'the server leads to https://releases.test, which is not plain HTTPS.',
      unavailable,
    ],
    [
      'it leads in a circle',
      Array.from({ length: 6 }, () => away('?sig=hush')),
      'the server redirects more than 5 times.',
      unavailable,
    ],
    [
      'it is compressed on the way',
      [gives(gzipSync(agent), { 'content-encoding': 'gzip' })],
      'the server sends it with Content-Encoding gzip, so what arrives is another file.',
      unavailable,
    ],
    ['it is another file', [gives(Buffer.from('<html>Sign in'))], 'it has not the sha256 that is asked for.'],
    ['it is too large', [gives(Buffer.alloc(1001))], 'it is larger than 1000 bytes, the most that the agent takes.'],
    ['it has no end', [endless], 'it is larger than 1000 bytes, the most that the agent takes.'],
  ])('where %s, and nothing secret is told', async (_, answers, problem, code) => {
    const server = await serve(...answers)
    const here = workstation({ ...server, largest: 1000 })
    const failed: unknown = await here.fetch(release(source)).catch((thrown: unknown) => thrown)
    expect(failed).toMatchObject({
      code: code ?? 'release-invalid',
      message: `agent v1.2.3 for amd64 (https://releases.test/v1/agent): ${problem}`,
      remedy: expect.stringMatching(/^[A-Z].*\.$/),
    })
    expect(everythingIn(failed)).not.toContain('hush')
    expect(server.requests).toHaveLength(answers.length)
  })
  test('where nothing comes, each time', async () => {
    const server = await serve(hangs(agent), hangs(agent))
    const here = workstation({ ...server, patience: { idleMs: 100, wholeMs: 20_000, pausesMs: [1] } })
    await expect(here.fetch(release(source))).rejects.toMatchObject({
      code: unavailable,
      message: expect.stringContaining('nothing came for 0.1 s, at try 2.'),
    })
  })
  test('where it takes too long in all, without another try', async () => {
    const server = await serve(hangs(agent))
    const here = workstation({ ...server, patience: { ...patience, wholeMs: 200 } })
    await expect(here.fetch(release(source))).rejects.toMatchObject({
      code: unavailable,
      message: expect.stringContaining('it took longer than 0.2 s.'),
    })
    expect(server.requests).toHaveLength(1)
  })
  test.each([
    ['no way to', { code: 'ECONNREFUSED', errno: -111 }, 'connection refused (ECONNREFUSED)'],
    ['an old certificate at', { code: 'CERT_HAS_EXPIRED' }, 'CERT_HAS_EXPIRED'],
    ['Proxy response (407) !== 200 for', { code: 'UND_ERR_ABORTED' }, 'the proxy answered 407'],
    ['some fault at', {}, 'the request failed, for no reason that was told'],
  ])(
    'where there is %s the server, and of what fetch throws only the reason is told',
    async (words, fields, reason) => {
      const here = workstation({
        fetch: (input) => {
          const cause = Object.assign(new Error(`${words} ${input}`), fields)
          return Promise.reject(new TypeError(`fetch of ${input} failed`, { cause }))
        },
      })
      const failed: unknown = await here.fetch(release(source)).catch((thrown: unknown) => thrown)
      expect(failed).toMatchObject({
        message: expect.stringContaining(`it could not be downloaded: ${reason}, at try 4.`),
      })
      expect(everythingIn(failed)).not.toContain('hush')
    },
  )
})

describe('the cache', () => {
  test('spares the next drover the network', async () => {
    const packed = await archive({ content: agent })
    const asked = release({ url, sha256: sha256(packed) })
    const first = workstation(await serve(gives(packed)))
    const second = workstation({ cacheDirectory: first.cache, fetch: noNetwork })
    expect(await second.fetch(asked).catch(() => 'not there yet')).toBe('not there yet')
    const fetched = await first.fetch(asked)
    expect(await workstation({ cacheDirectory: first.cache, fetch: noNetwork }).fetch(asked)).toEqual(fetched)
  })
  test.each([
    ['damaged', Buffer.concat([agent.subarray(0, -1), Buffer.from('X')])],
    ['cut off', agent.subarray(0, -1)],
    ['another', program({}, 'evil')],
  ])('is not believed: what is %s there is fetched anew', async (_, content) => {
    const cacheDirectory = directory()
    writeFileSync(join(cacheDirectory, sha256(agent)), content)
    const server = await serve(gives(agent))
    const { binaries } = await workstation({ ...server, cacheDirectory }).fetch(release(source))
    expect(server.requests).toHaveLength(1)
    expect(readFileSync(binaries?.amd64?.file ?? '').equals(agent)).toBe(true)
  })
  test('with a directory where the file belongs says that it cannot be kept', async () => {
    const cacheDirectory = directory()
    mkdirSync(join(cacheDirectory, sha256(agent), 'in-the-way'), { recursive: true })
    const here = workstation({ ...(await serve(gives(agent))), cacheDirectory })
    await expect(here.fetch(release(source))).rejects.toMatchObject({
      code: unavailable,
      message: expect.stringContaining(`it cannot be kept in ${cacheDirectory}`),
    })
  })
  test('is asked once by all who ask at the same time', async () => {
    const server = await serve(gives(agent))
    const here = workstation(server)
    const all = await Promise.all(Array.from({ length: 5 }, () => here.fetch(release(source))))
    expect(new Set(all.map(({ binaries }) => binaries?.amd64)).size).toBe(1)
    expect(server.requests).toHaveLength(1)
  })
  test('is filled by two drovers at once without harm', async () => {
    const packed = await archive({ content: agent })
    const server = await serve(gives(packed), gives(packed))
    const cacheDirectory = directory()
    const [one, other] = await Promise.all(
      [1, 2].map(() => workstation({ ...server, cacheDirectory }).fetch(release({ url, sha256: sha256(packed) }))),
    )
    expect(one).toEqual(other)
    expect(readFileSync(one?.binaries?.amd64?.file ?? '').equals(agent)).toBe(true)
  })
})

/** All that a screen or a log could make of it. */
function everythingIn(thrown: unknown): string {
  const error = thrown as Error
  const { message, stack, cause } = error
  return JSON.stringify([{ ...error }, message, stack]) + (cause === undefined ? '' : everythingIn(cause))
}

function endless(response: Parameters<Answer>[0]): void {
  response.writeHead(200)
  const more = (): void => {
    while (!response.destroyed && response.write('x'.repeat(400)));
  }
  response.on('drain', more)
  more()
}
