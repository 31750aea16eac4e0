// What the figures were taken on and with.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import type { Client } from './client.ts'
import { type Installed, versionsOf } from './peers/install.ts'

export const describeMachine = (): string =>
  [
    `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`,
    `${Math.round(totalmem() / 1e9)} GB of memory`,
    `Linux ${release()}`,
  ].join(', ')

export const describeVersions = async (client: Client, installed: Installed): Promise<readonly string[]> => {
  const ssh2 = createRequire(import.meta.url).resolve('ssh2/package.json')
  const { version } = JSON.parse(readFileSync(ssh2, 'utf8')) as { version: string }
  return [
    `Node ${process.versions.node}`,
    `ssh2 ${version}`,
    `${(await client.must('ssh -V 2>&1')).split(',')[0]} as client and server`,
    await client.must('python3 --version'),
    ...versionsOf(installed),
  ]
}
