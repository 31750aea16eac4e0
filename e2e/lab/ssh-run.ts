// A plain SSH login to a host, without drover: it proves that a client with the lab's key and known_hosts gets in.
import { readFileSync } from 'node:fs'
import ssh2 from 'ssh2'
import type { LabHost } from './host.ts'
import type { Lab } from './lab.ts'

/** Log in as drover would: the lab's key, and only a host key that known_hosts has. */
export function sshRun(lab: Lab, host: LabHost, command: string): Promise<string> {
  const known = readFileSync(lab.knownHostsFile, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${host.address} `))
    .map((line) => line.split(' ')[2])
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client()
    client.on('error', reject).on('ready', () => {
      client.exec(command, (error, channel) => {
        if (error !== undefined) return reject(error)
        let output = ''
        channel.on('data', (chunk: Buffer) => (output += chunk))
        channel.on('close', () => {
          client.end()
          resolve(output.trim())
        })
      })
    })
    client.connect({
      host: host.address,
      username: host.user,
      privateKey: readFileSync(lab.key.file),
      hostVerifier: (key: Buffer) => known.includes(key.toString('base64')),
    })
  })
}
