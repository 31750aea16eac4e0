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

/** In one go: every `docker exec` takes its time, and a story may have dozens of users. */
const makeUser = `
  set -eu
  name=$1 home=/home/$1 shell=$2 keys=$3 sudoers=$4; shift 4
  id "$name" >/dev/null 2>&1 || useradd -m -s "$shell" -- "$name"
  usermod -s "$shell" -- "$name"
  printf '%s:%s\\n' "$name" "$(cat)" | chpasswd
  mkdir -p "$home/.ssh"
  printf '%s\\n' "$keys" >"$home/.ssh/authorized_keys"
  chmod 0600 "$home/.ssh/authorized_keys"
  while [ $# -gt 0 ]; do
    mkdir -p "$(dirname "$home/$1")"
    printf %s "$2" >"$home/$1"
    chmod 0644 "$home/$1"
    shift 2
  done
  chown -R "$name:" "$home"
  chmod 0700 "$home/.ssh"
  if [ -n "$sudoers" ]; then
    printf '%s\\n' "$sudoers" >"/etc/sudoers.d/$name"
    chmod 0440 "/etc/sudoers.d/$name"
    visudo -cqf "/etc/sudoers.d/$name"
  fi`

export const addUser = async (lab: Lab, host: LabHost, user: UserOptions): Promise<void> => {
  const { name, shell = '/bin/sh', password, keys = [lab.key.authorizedLine], sudoers = [], files = {} } = user
  const rules = sudoers.map((line) => line.replaceAll('NAME', name)).join('\n')
  await host.must(makeUser, [name, shell, keys.join('\n'), rules, ...Object.entries(files).flat()], {
    // An account without a password is locked, and sshd lets nobody into a locked one where PAM is off.
    stdin: password ?? `unused-${name}-0`,
  })
}

/** Makes the host's keys known for one more port or name, as `[address]:port`. */
export const knowPort = async (lab: Lab, host: LabHost, port: number, address = host.address): Promise<void> => {
  const keys = await host.hostKeys()
  const name = port === 22 ? address : `[${address}]:${port}`
  const lines = keys.map((key) => `${name} ${key.split(' ').slice(0, 2).join(' ')}\n`)
  appendFileSync(lab.knownHostsFile, lines.join(''))
}

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
