// What becomes of a connection to a lab host while it is in use, and a lab whose hosts are reached in every way.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LabHost } from '../lab/host.ts'
import type { Lab } from '../lab/lab.ts'
import { hostsFile } from './sshd.ts'

export type TransportName = 'ssh2' | 'openssh'

/** An inventory in which each host says by which transport: one run is a row of both. */
export const hostsOver = (lab: Lab, name: string, hosts: readonly (readonly [LabHost, TransportName])[]): string =>
  hostsFile(
    lab,
    name,
    Object.fromEntries(hosts.map(([host, transport]) => [host.name, { ...host.inventoryEntry, transport }])),
  )

/** An ssh_config by which a dead connection is noticed after two seconds. */
export const quickKeepalive = (lab: Lab): string => {
  const path = join(lab.folder, 'quick.ssh')
  writeFileSync(path, 'Host *\n  ServerAliveInterval 1\n  ServerAliveCountMax 2\n')
  return path
}

/** Ends the processes of sshd that serve a login, as a crash or an administrator would; STOP: they are there and say nothing. */
export const cut = (host: LabHost, signal: 'KILL' | 'STOP' = 'KILL'): Promise<unknown> =>
  host.sh('pkill -"$1" -f "^sshd.*: root(@|$| \\[)"', [signal])

/** Packets of the connections that stand now are lost both ways; new ones get through. */
export const loseIts = (host: LabHost): Promise<string> =>
  host.must(`
    ports=$(cat /proc/net/tcp /proc/net/tcp6 | while read -r _ here there state _; do
      case $here:$state in *:0016:01) printf '%d,' "0x\${there##*:}" ;; esac
    done)
    [ -n "$ports" ] && nft -f - <<END
table inet lost {
  chain in { type filter hook input priority 0; tcp dport 22 tcp sport { \${ports%,} } drop; }
  chain out { type filter hook output priority 0; tcp sport 22 tcp dport { \${ports%,} } drop; }
}
END`)

export const mend = (host: LabHost): Promise<string> => host.must('nft delete table inet lost')
