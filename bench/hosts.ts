// Loopback addresses that stand for hosts, and the files by which each tool finds them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchFolder } from './place.ts'

export interface BenchHosts {
  readonly addresses: readonly string[]
  /** drover's inventory. */
  readonly inventory: string
  /** The same for a run that brings a key of its own. */
  readonly withoutKey: string
  readonly knownHosts: string
  /** Ansible's inventory, in INI as most are. */
  readonly ini: string
  /** ssh_config for OpenSSH's own programs. */
  readonly sshConfig: string
}

export const keyFile = '/bench/id'

const groupSize = 100

const addressOf = (index: number): string => `127.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`

/** This many hosts, each with a line of its own in known_hosts, as in life. */
export const writeHosts = (count: number, hostKey: string): BenchHosts => {
  const addresses = Array.from({ length: count }, (_, index) => addressOf(index + 1))
  const folder = benchFolder('hosts', String(count))
  const write = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }
  const key = hostKey.split(' ').slice(0, 2).join(' ')
  const knownHosts = write('known_hosts', addresses.map((address) => `${address} ${key}\n`).join(''))
  const named = addresses.map((address, index) => [`h${String(index + 1).padStart(5, '0')}`, address] as const)
  const reach = `user: bare\nknown_hosts: ${knownHosts}\n`
  const groups = Array.from({ length: Math.ceil(count / groupSize) }, (_, index) => ({
    name: `g${String(index).padStart(3, '0')}`,
    members: named.slice(index * groupSize, (index + 1) * groupSize),
  }))
  const entries = (members: typeof named): string =>
    members.map(([name, address]) => `      ${name}: { address: ${address} }\n`).join('')
  const hosts = `groups:\n${groups.map(({ name, members }) => `  ${name}:\n    hosts:\n${entries(members)}`).join('')}`
  const inventory = write('inventory.yaml', `${reach}identity_file: ${keyFile}\n${hosts}`)
  const withoutKey = write('without-key.yaml', `${reach}${hosts}`)
  const lines = (members: typeof named): string =>
    members.map(([name, address]) => `${name} ansible_host=${address}\n`).join('')
  const ini = write(
    'hosts.ini',
    `${groups.map(({ name, members }) => `[${name}]\n${lines(members)}\n`).join('')}[all:vars]\n${[
      'ansible_user=bare',
      `ansible_ssh_private_key_file=${keyFile}`,
      `ansible_ssh_common_args="-o UserKnownHostsFile=${knownHosts} -o IdentitiesOnly=yes"`,
      'ansible_python_interpreter=/usr/bin/python3',
    ].join('\n')}\n`,
  )
  const sshConfig = write(
    'ssh_config',
    [
      'User bare',
      `IdentityFile ${keyFile}`,
      'IdentitiesOnly yes',
      `UserKnownHostsFile ${knownHosts}`,
      'BatchMode yes',
      '',
    ].join('\n'),
  )
  return { addresses, inventory, withoutKey, knownHosts, ini, sshConfig }
}
