// The hooks of a worker (domain.md 3.5) and what else of the agent's lies about a host: LocalDNS, first boot.
import { type LabHost, WORKER_UNIT } from '../lab/host.ts'

/** Restart kube1 through its hooks, as the helper that they name does. Returns the process it runs in then. */
export const reconcile = (host: LabHost): Promise<string> =>
  host.must(
    `h=$(sed -n 's/^ExecStart=\\([^ ]*\\).*/\\1/p' /etc/systemd/system/unbounded-agent-regenerate-config@kube1.service)
     "$h" nspawn-lifecycle reconcile kube1 && systemctl show -p MainPID --value "$1"`,
    [WORKER_UNIT],
  )

/** Where the bytes of the hook units, of LocalDNS' unit and helper, and of the worker's other drop-ins can be compared. */
export const hookTexts = async (host: LabHost): Promise<ReadonlyMap<string, string>> => {
  const listed = await host.must(
    `cd /etc/systemd/system; for f in unbounded-agent-regenerate-config@kube?.service systemd-nspawn@kube?.service.d/* \\
       unbounded-localdns-network.service; do [ ! -f "$f" ] || echo "$f"; done`,
  )
  const files = listed.split('\n').filter(Boolean)
  return new Map(
    await Promise.all(
      files.map(async (file) => [file, (await host.sh('cat "/etc/systemd/system/$1"', [file])).stdout] as const),
    ),
  )
}

/** What an agent has put on a host, by name, as far as it is there: what reset must make go, and a story first sees. */
export const belongings = async (host: LabHost): Promise<string[]> => {
  const seen = await host.must(
    `for p in /etc/aks-flex-node /etc/aks-flex-node/first-boot /var/log/aks-flex-node /etc/systemd/nspawn/kube? /var/lib/machines/kube? \\
       /etc/systemd/nspawn/kube?.nspawn /etc/systemd/system/aks-flex-node-agent.service /etc/systemd/system/aks-flex-node-agent-recovery.service \\
       /etc/systemd/system/aks-flex-node-bootstrap.service /etc/systemd/system/systemd-nspawn@kube?.service.d \\
       /etc/systemd/system/unbounded-agent-regenerate-config@kube?.service /etc/systemd/system/unbounded-localdns-network.service \\
       /etc/systemd/system/machines.target.wants/systemd-nspawn@kube?.service /etc/systemd/system/multi-user.target.wants/aks-flex-node-* \\
       /etc/systemd/system/multi-user.target.wants/unbounded-localdns-* /run/bpffs/kube?; do
       if [ -e "$p" ] || [ -L "$p" ]; then echo "$p"; fi
     done
     for r in /opt/unbounded/agent /usr/local; do
       [ ! -L "$r" ] || continue
       for f in bin/unbounded-agent-nspawn-lifecycle lib/aks-flex-node/aks-flex-node-recovery.sh libexec/unbounded-localdns-network; do
         [ ! -e "$r/$f" ] || echo "$r/$f"
       done
     done
     nft list tables | grep -x 'table ip unbounded_localdns' || :
     [ ! -e /sys/class/net/localdns ] || echo 'interface localdns'
     systemctl list-units --no-legend --plain 'aks-flex-node-*' 'systemd-nspawn@kube*' 'unbounded-*' | awk '{ print $3 " " $1 }'`,
  )
  return seen.split('\n').filter(Boolean)
}
