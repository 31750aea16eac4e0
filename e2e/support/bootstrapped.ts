// drover's bootstrap script on a host of the lab: what it is given, how it is run, what it leaves.
import { expect } from 'vitest'
import { ownScriptText } from '../../src/provision/bootstrap-script.ts'
import type { LabHost } from '../lab/host.ts'
import { type AgentSource, TOLD } from './bootstrap.ts'

export const UNIT = 'aks-flex-node-agent.service'
export const CONFIG = '/etc/aks-flex-node/config.json'
/** What must appear in no output, and in no argument. */
export const signature = 'sig=s3cretSignature'
export const token = 'abcdef.0123456789abcdef'
export const base = {
  azure: { targetCluster: { resourceId: '/of/the/base' }, bootstrapToken: { token } },
  node: { kubelet: { clusterFQDN: 'api.example', caCertData: 'TEFC' } },
}

const script = ownScriptText()
export const BASE_FILE = '/root/lab/base.json'

export const prepare = async (host: LabHost, source: AgentSource): Promise<void> => {
  await host.put('/root/lab/bootstrap.sh', script)
  await host.put('/root/lab/ca.crt', source.certificate)
  await host.put(BASE_FILE, JSON.stringify(base), '0600')
}

/** Back to a host that has no agent and never had one. */
export const clean = (host: LabHost): Promise<string> =>
  host.must(
    `systemctl stop "$1" story-holder.service 2>/dev/null
     rm -f "/etc/systemd/system/$1"; systemctl daemon-reload
     for place in /usr/local /opt /mnt; do while mountpoint -q "$place"; do umount "$place" || exit; done; done
     rm -rf /opt/unbounded /srv/agent /etc/aks-flex-node /run/lab-bootstrap /root/lab/secrets /root/lab/tools
     if [ -w /usr/local/bin ]; then
       rm -rf /usr/local/bin/aks-flex-node /usr/local/lib/aks-flex-node /usr/local/bin/.aks*
       chmod 0755 /usr/local/bin && chown root:root /usr/local/bin
     fi`,
    [UNIT],
  )

export type Settings = Readonly<Record<string, string>>
export interface Way {
  readonly args?: readonly string[]
  readonly env?: Settings
  /** In place of the usual PATH. */
  readonly path?: string
}
interface Ran {
  readonly code: number
  readonly output: string
}

export const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** With nothing in the environment but what is given, and under a strict umask. An empty setting is one that is not given. */
export const runBootstrap = async (host: LabHost, settings: Settings, way: Way = {}): Promise<Ran> => {
  const variables = Object.entries({ BASE_CONFIG_FILE: BASE_FILE, ...settings })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `AKS_FLEX_NODE_${name}=${value}`)
  const others = Object.entries({ PATH: way.path ?? usualPath, CURL_CA_BUNDLE: '/root/lab/ca.crt', ...way.env })
  const environment = [...variables, ...others.map(([name, value]) => `${name}=${value}`)]
  const { code, stdout, stderr } = await host.sh('umask 077; exec env -i "$@"', [
    ...environment,
    ...['/bin/bash', '/root/lab/bootstrap.sh', ...(way.args ?? [])],
  ])
  return { code, output: `${stdout}${stderr}` }
}

export const expectCode = ({ code, output }: Ran, wanted: number): void => expect(code, output).toBe(wanted)

export const configOf = async (host: LabHost): Promise<unknown> => JSON.parse(await host.must('cat "$1"', [CONFIG]))

/** The commands that the telling agent was given, with the path it was called by. */
export const calls = async (host: LabHost): Promise<string[]> =>
  (await host.must(`cat ${TOLD}/calls 2>/dev/null || :`)).split('\n').filter((line) => line !== '')

export const modes = (host: LabHost, ...paths: string[]): Promise<string> => host.must('stat -c "%a %U:%G" "$@"', paths)

export const listing = (host: LabHost, ...places: string[]): Promise<string> =>
  host.must('find "$@" -printf "%p %y %m %u %s %l\\n" 2>/dev/null | sort', places)

export const readOnlyLocal = (host: LabHost): Promise<string> =>
  host.must(
    'mountpoint -q /usr/local || { mount --bind /usr/local /usr/local && mount -o remount,bind,ro /usr/local; }',
  )

export const versionAt = (host: LabHost, root: string): Promise<string> =>
  host.must('"$1/bin/aks-flex-node" version | sed -n 2p', [root])
