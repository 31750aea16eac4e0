import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fingerprintOf } from '../../src/transport/host-keys/host-key.ts'
import { createHostKeyCheck } from '../../src/transport/host-keys/host-key-check.ts'
import { hashedName } from '../../src/transport/host-keys/host-pattern.ts'
import { loadKnownHosts } from '../../src/transport/host-keys/known-hosts.ts'
import { appendKnownHost } from '../../src/transport/host-keys/known-hosts-append.ts'
import { parseKnownHosts } from '../../src/transport/host-keys/known-hosts-line.ts'
import { judgeHostKey, knownTypes, linesFor } from '../../src/transport/host-keys/known-hosts-lookup.ts'
import { orderHostKeyAlgorithms } from '../../src/transport/ssh2/algorithms.ts'
import { fakeHost } from './fake-host.ts'
import { knownHostsEntry as entry, fakeBlob } from './key-blobs.ts'

const good = fakeBlob('ssh-ed25519', 1)
const bad = fakeBlob('ssh-ed25519', 2)
const rsa = fakeBlob('ssh-rsa', 3)

const judge = (text: string, blob = good, port = 22) =>
  judgeHostKey(linesFor(parseKnownHosts(text, 'f').lines, 'web1', port), blob)

describe('judgement', () => {
  test.each([
    ['the key', entry('web1', good), 'ok'],
    ['the key among several', entry('web1', bad) + entry('web1', good), 'ok'],
    ['the key beside another type', entry('web1', rsa, 'ssh-rsa') + entry('web1', good), 'ok'],
    ['nothing', '', 'unknown'],
    ['another host', entry('web2', good), 'unknown'],
    ['another key', entry('web1', bad), 'changed'],
    ['a key of another type only', entry('web1', rsa, 'ssh-rsa'), 'changed'],
    ['the key, revoked', `${entry('web1', good)}@revoked ${entry('*', good)}`, 'revoked'],
    ['another key, revoked', `${entry('web1', good)}@revoked ${entry('*', bad)}`, 'ok'],
    ['the key, revoked for another host', `${entry('web1', good)}@revoked ${entry('web2', good)}`, 'ok'],
    ['an authority with this very key', `@cert-authority ${entry('*', good)}`, 'unknown'],
    ['a marker nobody knows', `@trusted ${entry('web1', good)}`, 'unknown'],
    ['a line that names another type than its key', entry('web1', good, 'ssh-rsa'), 'unknown'],
  ])('known_hosts holds %s', (_, text, status) => {
    expect(judge(text).status).toBe(status)
  })

  test('on another port the name with the port counts, and the bare name only for the right key', () => {
    expect(judge(entry('[web1]:2222', good), good, 2222).status).toBe('ok')
    expect(judge(entry('web1', good), good, 2222).status).toBe('ok')
    expect(judge(entry('web1', bad), good, 2222).status).toBe('unknown')
    expect(judge(entry('[web1]:2222', bad) + entry('web1', good), good, 2222).status).toBe('ok')
    expect(judge(entry('[web1]:2222', bad), good, 2222).status).toBe('changed')
    expect(judge(entry('[web1]:2222', good), good, 22).status).toBe('unknown')
  })

  test('what is known is told: types of a changed key, an authority for an unknown one', () => {
    expect(judge(entry('web1', bad) + entry('web1', rsa, 'ssh-rsa'))).toMatchObject({
      knownTypes: ['ssh-ed25519', 'ssh-rsa'],
      known: [
        { blob: bad, file: 'f', line: 1 },
        { blob: rsa, file: 'f', line: 2 },
      ],
    })
    expect(judge(`@cert-authority ${entry('*', good)}`)).toEqual({ status: 'unknown', hasAuthority: true })
  })
})

test('lines that cannot be read are counted and passed over', () => {
  const text = `# comment\n\n  \nweb1\nweb1 ssh-ed25519 %%%\n@odd x y z\n|1|x ssh-ed25519\n\t${entry('web1', good).trim()} a comment\r\n`
  const { lines, badLineCount } = parseKnownHosts(text, 'f')
  expect([lines.length, badLineCount]).toEqual([1, 4])
})

test('the known types are asked for first, an RSA key by its two good names', () => {
  const types = knownTypes(linesFor(parseKnownHosts(entry('web1', rsa, 'ssh-rsa'), 'f').lines, 'web1', 22))
  expect(orderHostKeyAlgorithms(types).slice(0, 3)).toEqual(['rsa-sha2-512', 'rsa-sha2-256', 'ssh-ed25519'])
  expect(orderHostKeyAlgorithms([])[0]).toBe('ssh-ed25519')
  expect(orderHostKeyAlgorithms(['ssh-dss'])).toHaveLength(6)
})

describe('files', () => {
  let directory: string
  let count = 0
  const file = (text?: string): string => {
    count += 1
    const path = join(directory, `known_hosts.${count}`)
    if (text !== undefined) writeFileSync(path, text)
    return path
  }
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'drover-known-'))
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  test('several files are one', async () => {
    const known = await loadKnownHosts([file(entry('web1', good)), file(`@revoked ${entry('*', good)}bad\n`)])
    expect(judgeHostKey(known.about('web1', 22), good).status).toBe('revoked')
    expect(known.badLineCount).toBe(1)
  })

  test('named files that cannot be read are all named, unless they may be missing', async () => {
    const missing = file()
    await expect(loadKnownHosts([missing, directory])).rejects.toMatchObject({
      code: 'known-hosts-unreadable',
      faults: [{ file: missing }, { file: directory }],
    })
    await loadKnownHosts([missing], { mayBeMissing: true })
    await expect(loadKnownHosts([directory], { mayBeMissing: true })).rejects.toMatchObject({
      faults: [{ file: directory }],
    })
  })

  test('a list of files is read once per cache', async () => {
    const cache = new Map()
    const path = file(entry('web1', good))
    const first = await loadKnownHosts([path], { cache })
    rmSync(path)
    expect(await loadKnownHosts([path], { cache })).toBe(first)
  })

  test('a learnt key is appended in a form that OpenSSH finds, on a line of its own', async () => {
    const path = file(entry('web2', bad).trimEnd())
    expect(await appendKnownHost(path, { address: 'Web1', port: 2222, blob: good })).toMatchObject({
      status: 'unknown',
    })
    expect(readFileSync(path, 'utf8')).toBe(entry('web2', bad) + entry('[web1]:2222', good))
    execFileSync('ssh-keygen', ['-F', '[web1]:2222', '-f', path], { stdio: 'ignore' })
  })

  test('among hashed names it is hashed too', async () => {
    const path = file(entry(hashedName('web2', Buffer.alloc(20)), bad))
    await appendKnownHost(path, { address: 'web1', port: 22, blob: good })
    expect(readFileSync(path, 'utf8')).not.toContain('web1')
    execFileSync('ssh-keygen', ['-F', 'web1', '-f', path], { stdio: 'ignore' })
  })

  test('twenty at once append one line, and a key that is there is left alone', async () => {
    const path = file()
    const learnt = { address: 'web1', port: 22, blob: good }
    await Promise.all(Array.from({ length: 20 }, () => appendKnownHost(path, learnt)))
    expect(readFileSync(path, 'utf8')).toBe(entry('web1', good))
    expect(await appendKnownHost(path, { ...learnt, blob: bad })).toMatchObject({ status: 'changed' })
    expect(readFileSync(path, 'utf8')).toBe(entry('web1', good))
  })

  describe('the check of one connection', () => {
    const check = async (paths: string | string[], over = {}) => {
      const notices: string[] = []
      const known = await loadKnownHosts([paths].flat(), { mayBeMissing: true })
      const host = fakeHost({ address: 'web1', hostKeyPolicy: 'accept-new', ...over })
      return { hostKey: createHostKeyCheck(host, known, (message) => notices.push(message)), notices }
    }

    test('decides once: at a rekey the approved key alone is right', async () => {
      const { hostKey } = await check(file(entry('web1', good)))
      expect([hostKey.verify(good), hostKey.verify(good), hostKey.verify(bad)]).toEqual([true, true, false])
    })

    test('by an alias it is the alias alone that counts, without a port', async () => {
      const over = { port: 2222, hostKeyAlias: 'Fleet' }
      const judged = async (text: string) => (await check(file(text), { ...over, hostKeyPolicy: 'strict' })).hostKey
      expect((await judged(entry('fleet', good))).verify(good)).toBe(true)
      for (const other of ['web1', '[web1]:2222', '[fleet]:2222'])
        expect((await judged(entry(other, good))).verify(good), other).toBe(false)
      const path = file()
      const { hostKey } = await check(path, over)
      hostKey.verify(good)
      await hostKey.record()
      expect(readFileSync(path, 'utf8')).toBe(entry('fleet', good))
    })

    test('a key that another process learnt meanwhile is not overruled', async () => {
      const path = file()
      const { hostKey } = await check(path)
      expect(hostKey.verify(good)).toBe(true)
      writeFileSync(path, entry('web1', bad))
      await expect(hostKey.record()).rejects.toMatchObject({ code: 'host-key-changed' })
    })

    test('a file that cannot be written is told of, and the connection stands', async () => {
      const { hostKey, notices } = await check('/dev/null/known_hosts')
      expect(hostKey.verify(good)).toBe(true)
      await hostKey.record()
      expect(notices).toEqual([expect.stringMatching(/^could not write the host key of web1 .* to \/dev/)])
    })

    test('a refusal says what is known and how to go on', async () => {
      const path = file(`# comment\n\n${entry('web1', bad)}`)
      const { hostKey } = await check(path)
      expect(hostKey.verify(good)).toBe(false)
      expect(hostKey.refusal).toMatchObject({
        code: 'host-key-changed',
        message: expect.stringContaining(fingerprintOf(good)),
        detail: `known: ssh-ed25519 ${fingerprintOf(bad)} in ${path}:3`,
        remedy: expect.stringContaining(`ssh-keygen -R 'web1' -f '${path}'`),
      })
    })

    test('the files to correct are those that hold the old keys', async () => {
      const [empty, one, two] = [file(''), file(entry('web2', bad) + entry('web1', bad)), file(entry('web1', bad))]
      const { hostKey } = await check([empty, one, two])
      hostKey.verify(good)
      expect(hostKey.refusal?.remedy).toContain(
        `remove the old key with \`ssh-keygen -R 'web1' -f '${one}'\` and \`ssh-keygen -R 'web1' -f '${two}'\` and`,
      )
      expect(hostKey.refusal?.detail).toMatch(new RegExp(` in ${one}:2\n.* in ${two}:1$`))
      const revoked = file(`\n@revoked ${entry('web1', good)}`)
      const { hostKey: other } = await check([empty, revoked])
      other.verify(good)
      expect(other.refusal).toMatchObject({ code: 'host-key-revoked', detail: `revoked in ${revoked}:2` })
    })

    test('a key that this process has learnt stands in the file it learns to', async () => {
      const path = file()
      const known = await loadKnownHosts([path], { mayBeMissing: true })
      known.learn('web1', 22, bad)
      const hostKey = createHostKeyCheck(fakeHost({ address: 'web1' }), known, () => undefined)
      hostKey.verify(good)
      expect(hostKey.refusal?.detail).toBe(`known: ssh-ed25519 ${fingerprintOf(bad)} in ${path}`)
    })
  })
})
