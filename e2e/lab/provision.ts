// From a booted bare host to a deployed one. The scripts are data for the container; none runs on this machine.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { agentBinary } from './agent/build.ts'
import type { LabHost } from './host.ts'
import { labSources } from './state.ts'

/** Where the scripts lie on the host while they are used. Not /tmp: a story may mount that noexec. */
const FOLDER = '/root/.drover-lab'

export async function authorize(host: LabHost, authorizedLine: string): Promise<void> {
  for (const user of new Set(['root', host.user])) {
    await host.must(`${script('authorize.sh')}`, [user, authorizedLine])
  }
}

/** Install what the host's spec asks for: what comes before a bootstrap, then the worker, then the agent, as a bootstrap does. */
export async function provision(host: LabHost): Promise<void> {
  const { agent = 'none', worker = 'none', variant = 'host', offline = '', hooks, localdns, firstBoot } = host.spec
  if (firstBoot) await host.must(script('first-boot.sh'))
  let binary = ''
  if (agent !== 'none') {
    binary = `${FOLDER}/agent`
    await host.put(binary, await readFile(await agentBinary(agent)), '0755')
  }
  if (localdns) await host.must(script('localdns.sh'), [host.agentRoot])
  if (worker !== 'none') await host.must(script('worker.sh'), [worker, 'kube1', binary, hooks ? host.agentRoot : ''])
  if (agent !== 'none') await host.must(script('agent.sh'), [binary, host.layout, variant, offline, host.name])
  await host.must('rm -rf /root/.drover-lab')
}

function script(name: string): string {
  return readFileSync(join(labSources, 'provision', name), 'utf8')
}
