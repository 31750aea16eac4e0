// Hosts for the stories about reset: with all that an agent can have, again after a reset, and half moved.
import type { AgentBuild } from '../lab/agent/build.ts'
import { AGENT_UNIT, type HostSpec, LabHost } from '../lab/host.ts'
import { provision } from '../lab/provision.ts'
import { dropIn, lifecycleState, operatorsDropIn } from './reset.ts'

/** Writes all that neither a reset nor an uninstall touches, and the files that a reset takes and the lab does not bring. `/usr` may be read-only. */
export const plant = async (host: LabHost): Promise<void> => {
  await host.must(
    `put() { mkdir -p "\${1%/*}" && printf '%s\\n' "$2" >"$1"; }
     mkdir -p /opt/unbounded && put /opt/unbounded/artifacts/image.tar bytes && chmod 0750 /opt/unbounded /opt/unbounded/artifacts
     put /usr/local/bin/operators-own tool 2>/dev/null || :
     put /opt/azcmagent/bin/himds program; put /var/opt/azcmagent/agentconfig.json '{"id": 1}'
     put /etc/sysctl.d/99-kubernetes.conf 'net.ipv4.ip_forward = 1'
     put /etc/fstab '# /swap none swap sw 0 0'
     put /etc/apt/apt.conf.d/99-unbounded-no-restart-systemd '// nothing'; put /etc/needrestart/conf.d/99-unbounded.conf '# nothing'
     put /etc/unbounded/kube/nftables-clear.nft '# nothing'; chmod 0600 /etc/unbounded/kube/nftables-clear.nft
     put /etc/systemd/nspawn/mine.nspawn '[Exec]'; put /var/lib/machines/mine/etc/hostname mine
     put /var/lib/aks-flex-node/data 'what the agent kept'
     put "$2" '{"version": 1, "machineName": "kube1"}'
     put "$1" "$(printf '[Unit]\\nWants=machines.target')"
     u=/etc/systemd/system
     put $u/nftables-flush.service "$(printf '[Service]\\nType=oneshot\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target')"
     put /etc/aks-flex-node/static-routes.sh "$(printf '#!/bin/sh\\nexit 0')"; chmod 0755 /etc/aks-flex-node/static-routes.sh
     put $u/static-routes.service "$(printf '[Service]\\nType=oneshot\\nRemainAfterExit=yes\\nExecStart=/etc/aks-flex-node/static-routes.sh\\n[Install]\\nRequiredBy=systemd-nspawn@.service')"
     systemctl daemon-reload; systemctl enable --quiet nftables-flush.service static-routes.service
     nft add table inet operators 2>/dev/null; ip link add keep0 type bridge 2>/dev/null || :`,
    [dropIn, lifecycleState],
  )
}

/** A drop-in of the operator's own beside drover's. */
export const plantDropIn = (host: LabHost): Promise<void> => host.put(operatorsDropIn, '[Service]\nNice=1\n')

/** The host as it was booted, after a reset or an uninstall: its layout is laid anew, perhaps of another build or in another place. */
export const again = async (
  host: LabHost,
  { firstBoot = true, ...other }: Partial<Pick<HostSpec, 'layout'>> & { agent?: AgentBuild; firstBoot?: boolean } = {},
): Promise<LabHost> => {
  const { firstBoot: _, ...spec } = host.spec
  const same = new LabHost(host.id, { ...spec, ...other, ...(firstBoot && { firstBoot }) }, host.address)
  await host.must(
    `systemctl stop "$1" 2>/dev/null; systemctl reset-failed 2>/dev/null
     # A worker would wait for their scripts, which a reset takes (O-14).
     systemctl disable --now --quiet static-routes.service 2>/dev/null; rm -f /etc/systemd/system/static-routes.service
     rm -rf /opt/unbounded/agent /opt/unbounded/agent.staging /etc/aks-flex-node /run/lab-die-at
     if [ -w /usr/local/bin ]; then
       rm -rf /usr/local/lib/aks-flex-node
       rm -f /usr/local/bin/aks-flex-node /usr/local/bin/unbounded-agent-nspawn-lifecycle /usr/local/libexec/unbounded-localdns-network
     fi`,
    [AGENT_UNIT],
  )
  await provision(same)
  await plant(same)
  return same
}

/** From a LINKED host of the lab whose agent runs to a move that was cut; the agent is left as it is. */
const copied = `
  R=/opt/unbounded/agent S=/opt/unbounded/agent.staging L=/usr/local lib=lib/aks-flex-node
  mkdir -p $S/bin $S/lib $S/libexec; cp -a $L/$lib $S/lib/
  cp -a $L/bin/unbounded-agent-nspawn-lifecycle $S/bin/; cp -a $L/libexec/unbounded-localdns-network $S/libexec/
  for s in current last-good; do ln -sfn $R/$lib/aks-flex-node-blue $S/$lib/aks-flex-node-$s; done
  ln -sfn $R/$lib/aks-flex-node-current $S/bin/aks-flex-node; touch $S/.moving`
const swapped = `${copied}; rm $R; mv $S $R`

export const halfMoved = {
  STAGING: copied,
  'SWAP-GAP': `${copied}; rm $R`,
  'MOVING-1': swapped,
  'MOVING-2': `${swapped}; $R/$lib/aks-flex-node-current lab-write-unit host; systemctl daemon-reload; systemctl restart ${AGENT_UNIT}
    rm $L/bin/aks-flex-node $L/$lib/aks-flex-node-blue`,
  CONFLICT: `${swapped}; rm $R/.moving`,
} as const satisfies Readonly<Record<string, string>>
