import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { agent, fileIn, filesOf, key, principal, provision } from './provisioned.ts'

test('the same files as by Ignition, as user-data for nobody else to read', async () => {
  const asked = {
    vars: { agent, provision: { ...principal, sp_client_secret: { secret: { env: 'SP' } } } },
    words: ['--ssh-authorized-key', key],
    world: { env: { SP: 'hush' } },
  }
  const [ran, other] = [await provision('cloud-init', asked), await provision('ignition', asked)]
  expect(ran).toMatchObject({
    code: 0,
    connects: [],
    stdout: "out/acl1.user-data  user-data of acl1, bootstrap script of drover's own\n",
  })
  expect(ran.stderr).toContain('as secret as what they were made of')
  expect(statSync(join(ran.cwd, 'out/acl1.user-data')).mode & 0o777).toBe(0o600)
  const text = fileIn(ran, 'acl1.user-data')
  expect(text).toMatch(/^#cloud-config\n/)
  const config = parse(text, { version: '1.1' })
  const files = Object.entries(filesOf(other)).map(([, { path, mode, text }]) => ({
    path,
    owner: 'root:root',
    permissions: `0${mode.toString(8)}`,
    encoding: 'b64',
    content: Buffer.from(text, 'latin1').toString('base64'),
  }))
  expect(files).toHaveLength(4)
  expect(config.write_files.slice(0, -1)).toEqual(files)
  expect(config.write_files.at(-1).path).toBe('/etc/systemd/system/aks-flex-node-bootstrap.service')
  expect(config.ssh_authorized_keys).toEqual([key])
})

test('a host that lets in whom the cloud says needs no key, and may have an agent of any age', async () => {
  const ran = await provision('cloud-init', {
    vars: {
      agent: { ...agent, version: 'v0.2.0' },
      provision: { ...principal, auth: 'arc', sp_tenant_id: undefined, sp_client_id: undefined },
    },
  })
  expect(ran.code).toBe(0)
  expect(ran.stderr).not.toContain('warn')
})

test('--merge is of Ignition only', async () => {
  const ran = await provision('cloud-init', { words: ['--merge', 'x'] })
  expect(ran).toMatchObject({ code: 5, stdout: '' })
  expect(ran.stderr).toContain('--merge')
})
