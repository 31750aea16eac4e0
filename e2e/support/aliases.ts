// Many names for one sshd: what one sshd bears is then no matter of one endpoint.
import { appendFileSync } from 'node:fs'
import type { LabHost } from '../lab/host.ts'
import type { Lab } from '../lab/lab.ts'

/** Gives a lab host more addresses in its network, from the upper end, which the lab does not hand out so soon. */
export const addAddresses = async (host: LabHost, count: number): Promise<readonly string[]> => {
  const prefix = host.address.slice(0, host.address.lastIndexOf('.'))
  const addresses = Array.from({ length: count }, (_, index) => `${prefix}.${250 - index}`)
  await host.must('for a; do ip address add "$a/32" dev eth0 || exit; done', addresses)
  return addresses
}

/** Makes the host's keys known under each of these names. */
export const knowNames = async (lab: Lab, host: LabHost, names: readonly string[]): Promise<void> => {
  const keys = (await host.hostKeys()).map((key) => key.split(' ').slice(0, 2).join(' '))
  appendFileSync(lab.knownHostsFile, names.flatMap((name) => keys.map((key) => `${name} ${key}\n`)).join(''))
}
