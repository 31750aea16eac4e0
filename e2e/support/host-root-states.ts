// Brings the host root of a host into the states that a story begins with.
import { readFileSync } from 'node:fs'
import { type AgentBuild, buildAgent } from '../lab/agent/build.ts'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'

/**
 * Put other binaries into the slots of the root that the agent's files lie in, last-good into blue, current into green, and into
 * the worker. The agent is stopped for that and stays so.
 */
const layOut = async (host: LabHost, slots: { current: AgentBuild; lastGood: AgentBuild }): Promise<void> => {
  await host.must('systemctl stop "$1"', [AGENT_UNIT])
  await host.put('/srv/lab-blue', readFileSync(await buildAgent(slots.lastGood)), '0755')
  await host.put('/srv/lab-green', readFileSync(await buildAgent(slots.current)), '0755')
  await host.must(
    `l=$(readlink -f /opt/unbounded/agent || :)
     if [ -z "$l" ] || [ ! -d "$l/lib/aks-flex-node" ]; then l=/usr/local; fi
     l=$l/lib/aks-flex-node/aks-flex-node
     for s in blue green; do install -m 0755 /srv/lab-$s "$l-$s.new"; mv "$l-$s.new" "$l-$s"; done
     ln -sfn "$l-blue" "$l-last-good"; ln -sfn "$l-green" "$l-current"
     in=/var/lib/machines/kube1/usr/local/bin/aks-flex-node
     [ ! -e "$in" ] || { install -m 0755 /srv/lab-green "$in.new"; mv "$in.new" "$in"; }
     rm -f /srv/lab-blue /srv/lab-green`,
  )
}

/**
 * From whatever state back to one with all files under /usr/local and ROOT a link, the agent stopped and not ready to be moved.
 * For stories that move the same host again and again.
 */
export const becomeLinked = async (
  host: LabHost,
  slots: { current: AgentBuild; lastGood: AgentBuild },
): Promise<void> => {
  await host.must(
    `systemctl stop 'aks-flex-node-agent-upgrade-restart-*' # one may be queued still, and would come when nobody expects it
     systemctl stop "$1"; systemctl reset-failed "$1" 2>/dev/null || :
     R=/opt/unbounded/agent L=/usr/local u=/etc/systemd/system lib=lib/aks-flex-node/aks-flex-node
     from=$L; if [ -d $R ] && [ ! -L $R ]; then from=$R; fi
     install -d -m 0755 $L/bin $L/lib $L/libexec /opt/unbounded; install -d -m 0750 $L/lib/aks-flex-node
     if [ $from = $R ]; then
       for f in bin/unbounded-agent-nspawn-lifecycle libexec/unbounded-localdns-network; do [ ! -e $R/$f ] || cp -a $R/$f $L/$f; done
     fi
     ln -sfn $L/$lib-current $L/bin/aks-flex-node
     rm -rf $R.staging $R; ln -s $L $R
     rm -f /etc/aks-flex-node/agent-upgrade-signal.json /etc/aks-flex-node/host-root-agents /run/lab-die-at /run/lab-second-pass-fails /run/lab-copy-unfit
     [ ! -e $u/unbounded-localdns-network.service ] || sed -i "s|$R/libexec|$L/libexec|" $u/unbounded-localdns-network.service`,
    [AGENT_UNIT],
  )
  await layOut(host, slots)
  await host.must(
    `b=/usr/local/lib/aks-flex-node/aks-flex-node-current u=/etc/systemd/system
     variant=host; ! grep -q Requires=containerd "$u/$1" || variant=container
     "$b" lab-write-unit $variant
     for m in kube1 kube2; do [ ! -e $u/unbounded-agent-regenerate-config@$m.service ] || "$b" lab-write-hooks $m; done
     systemctl daemon-reload`,
    [AGENT_UNIT],
  )
}

/** Make a LEGACY or LINKED host one that is LINKED and ready to be moved: both binaries are recorded (domain.md 6.1). */
export const makeReady = (host: LabHost): Promise<string> =>
  host.must(
    `[ -d /opt/unbounded ] || mkdir -m 0755 /opt/unbounded
     [ -L /opt/unbounded/agent ] || ln -s /usr/local /opt/unbounded/agent
     umask 077; l=/usr/local/lib/aks-flex-node/aks-flex-node
     sha256sum $l-current $l-last-good | cut -c-64 | sort -u >/etc/aks-flex-node/host-root-agents`,
  )

/** /opt as it is, but nothing on it can be executed. Over at a reboot. */
export const noexecOpt = (host: LabHost): Promise<string> =>
  host.must('mount --bind /opt /opt && mount -o remount,bind,noexec /opt')
export const execOpt = (host: LabHost): Promise<string> => host.must('umount /opt')
