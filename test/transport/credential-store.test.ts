import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCredentialStore } from '../../src/transport/login/credential-store.ts'
import { fakeHost } from './fake-host.ts'

let directory: string
const path = (name: string): string => join(directory, name)
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-store-'))
  writeFileSync(path('known_hosts'), '')
  writeFileSync(path('garbage'), 'no key\n')
})
afterAll(() => rmSync(directory, { recursive: true }))

const prepare = (...hosts: Parameters<typeof fakeHost>[0][]) =>
  createCredentialStore({ passphrase: () => undefined, notify: () => undefined }).prepare(hosts.map(fakeHost))

test('all that is unusable is told at once: known_hosts and keys, of every host and jump host, each file once', async () => {
  const good = path('known_hosts')
  const jump = [fakeHost({ knownHostsFiles: [path('missing_2')], identityFiles: [path('key_2')] })]
  await expect(
    prepare(
      { knownHostsFiles: [path('missing_1')], identityFiles: [path('garbage')] },
      { knownHostsFiles: [good, path('missing_1')], jump },
      { knownHostsFiles: [good], identityFiles: [path('garbage')] },
    ),
  ).rejects.toMatchObject({
    code: 'known-hosts-unreadable',
    faults: ['missing_1', 'missing_2', 'garbage', 'key_2'].map((name) => ({ file: path(name) })),
  })
})

test('keys alone are told of as keys', async () => {
  await expect(
    prepare({ knownHostsFiles: [path('known_hosts')], identityFiles: [path('garbage')] }),
  ).rejects.toMatchObject({ code: 'key-unusable', faults: [{ file: path('garbage') }] })
})

test('what is no fault of the files is told as it is', async () => {
  const store = createCredentialStore({
    passphrase: () => undefined,
    notify: () => undefined,
    keys: new Map([[path('odd'), Promise.reject(new Error('unforeseen'))]]),
  })
  await expect(
    store.prepare([fakeHost({ knownHostsFiles: [path('missing_1')], identityFiles: [path('odd')] })]),
  ).rejects.toThrow('unforeseen')
})
