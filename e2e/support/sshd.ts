// More ways into one lab host: sshds of their own configuration beside the host's own, and users of every kind.
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { LabHost } from '../lab/host.ts'
import type { Lab } from '../lab/lab.ts'
import { sshAnswers, until } from '../lab/wait.ts'

export interface SshdOptions {
  readonly port: number
  /** Lines of its sshd_config, above those that every one has: the first value of a keyword counts. */
  readonly lines?: readonly string[]
}

/** Starts one more sshd, with the host's own keys, as the unit `sshd-PORT.service`; its log is that unit's journal. */
export const startSshd = async (host: LabHost, { port, lines = [] }: SshdOptions): Promise<void> => {
  const file = `/etc/ssh/sshd_${port}_config`
  const common = [
    `Port ${port}`,
    `PidFile /run/sshd-${port}.pid`,
    'PermitRootLogin yes',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM yes',
    'PrintMotd no',
    'Subsystem sftp internal-sftp',
  ]
  await host.put(file, `${[...lines, ...common].join('\n')}\n`)
  await host.must(
    'mkdir -p /run/sshd && /usr/sbin/sshd -t -f "$1" && systemd-run --quiet --collect --unit="sshd-$2" /usr/sbin/sshd -D -e -f "$1"',
    [file, String(port)],
  )
  await until(`sshd ${port} on ${host.name}`, 15_000, async () =>
    (await sshAnswers(host.address, port)) ? true : undefined,
  )
}

export const stopSshd = async (host: LabHost, port: number): Promise<void> => {
  await host.must('systemctl stop "sshd-$1"; rm -f "/etc/ssh/sshd_$1_config"', [String(port)])
}

export interface UserOptions {
  readonly name: string
  /** A path; it need not be in /etc/shells. Default: /bin/sh. */
  readonly shell?: string
  readonly password?: string
  /** Lines of authorized_keys; default: the lab's key. */
  readonly keys?: readonly string[]
  /** Lines of a file in /etc/sudoers.d; NAME stands for the user. */
  readonly sudoers?: readonly string[]
  /** Files below the home directory, such as `.bashrc`. */
  readonly files?: Readonly<Record<string, string>>
}

/** In one go, since every `docker exec` takes its time; the passwords come on standard input, a line for each user. */
const makeUsers = `
  set -eu
  while [ $# -gt 0 ]; do
    name=$1 home=/home/$1 shell=$2 keys=$3 sudoers=$4 files=$5; shift 5
    IFS= read -r password
    id "$name" >/dev/null 2>&1 || useradd -m -s "$shell" -- "$name"
    usermod -s "$shell" -- "$name"
    printf '%s:%s\\n' "$name" "$password" | chpasswd
    mkdir -p "$home/.ssh"
    printf '%s\\n' "$keys" >"$home/.ssh/authorized_keys"
    chmod 0600 "$home/.ssh/authorized_keys"
    while [ "$files" -gt 0 ]; do
      mkdir -p "$(dirname "$home/$1")"
      printf %s "$2" >"$home/$1"
      chmod 0644 "$home/$1"
      shift 2
      files=$((files - 1))
    done
    chown -R "$name:" "$home"
    chmod 0700 "$home/.ssh"
    if [ -n "$sudoers" ]; then
      printf '%s\\n' "$sudoers" >"/etc/sudoers.d/$name"
      chmod 0440 "/etc/sudoers.d/$name"
      visudo -cqf "/etc/sudoers.d/$name"
    fi
  done`

export const addUsers = async (lab: Lab, host: LabHost, users: readonly UserOptions[]): Promise<void> => {
  const args = users.flatMap(
    ({ name, shell = '/bin/sh', keys = [lab.key.authorizedLine], sudoers = [], files = {} }) => {
      const rules = sudoers.map((line) => line.replaceAll('NAME', name)).join('\n')
      const pairs = Object.entries(files)
      return [name, shell, keys.join('\n'), rules, String(pairs.length), ...pairs.flat()]
    },
  )
  // An account without a password is locked, and sshd lets nobody into a locked one where PAM is off.
  const passwords = users.map(({ name, password }) => `${password ?? `unused-${name}-0`}\n`)
  await host.must(makeUsers, args, { stdin: passwords.join('') })
}

export const addUser = (lab: Lab, host: LabHost, user: UserOptions): Promise<void> => addUsers(lab, host, [user])

/** Makes the host's keys known for more ports or another name, as `[address]:port`. */
export const knowPorts = async (
  lab: Lab,
  host: LabHost,
  ports: readonly number[],
  address = host.address,
): Promise<void> => {
  const keys = (await host.hostKeys()).map((key) => key.split(' ').slice(0, 2).join(' '))
  const names = ports.map((port) => (port === 22 ? address : `[${address}]:${port}`))
  appendFileSync(lab.knownHostsFile, names.flatMap((name) => keys.map((key) => `${name} ${key}\n`)).join(''))
}

export const knowPort = (lab: Lab, host: LabHost, port: number, address = host.address): Promise<void> =>
  knowPorts(lab, host, [port], address)

/** Writes an inventory of exactly these hosts, with the lab's key and known_hosts, and returns its path. */
export const hostsFile = (
  lab: Lab,
  name: string,
  hosts: Readonly<Record<string, object>>,
  more: object = {},
): string => {
  const file = join(lab.folder, `${name}.hosts.yaml`)
  const top = { known_hosts: lab.knownHostsFile, identity_file: lab.key.file }
  writeFileSync(file, stringify({ ...top, ...more, hosts }), { mode: 0o600 })
  return file
}
