import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Host } from '../../../src/inventory/host.ts'
import type { JumpSpec } from '../../../src/transport/ssh-config/proxy-jump.ts'
import {
  type ResolvedHosts,
  type ResolveHostsOptions,
  resolveHosts,
} from '../../../src/transport/ssh-config/resolve-hosts.ts'
import { fakeHost } from '../fake-host.ts'

export const home = userInfo().homedir
export const localUser = userInfo().username

/** A directory with these files in it; `config` is the ssh_config. */
export const directoryWith = (files: Readonly<Record<string, string>>): string => {
  const directory = mkdtempSync('/tmp/drover-ssh-config-')
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  return directory
}

/** A host as the inventory makes one that it knows nothing of but the name. */
export const named = (name: string, fields: Partial<Host> = {}): Host =>
  fakeHost({
    name,
    address: name,
    port: 22,
    user: localUser,
    identityFiles: [],
    jump: [],
    knownHostsFiles: [],
    hostKeyPolicy: 'strict',
    given: [],
    ...fields,
  })

const hopOf = (spec: JumpSpec): Host =>
  named(spec.text, {
    address: spec.host,
    ...(spec.port !== undefined && { port: spec.port }),
    ...(spec.user !== undefined && { user: spec.user }),
    given: [
      ...(spec.port === undefined ? [] : ['port' as const]),
      ...(spec.user === undefined ? [] : ['user' as const]),
    ],
  })

export const resolveBy = (
  config: string,
  hosts: readonly Host[],
  options: Partial<ResolveHostsOptions> = {},
): Promise<ResolvedHosts> =>
  resolveHosts(hosts, {
    source: { kind: 'file', path: join(directoryWith({ config }), 'config') },
    home,
    env: {},
    localUser,
    workstation: 'desk.example.com',
    opensKeys: false,
    hopOf,
    ...options,
  })

/** A program name that nothing has. */
export const noSsh = { program: 'drover-test-no-such-ssh' }
