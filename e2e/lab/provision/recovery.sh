#!/bin/sh
# Stand-in for the agent's recovery script: only a pending upgrade makes it change anything, and a failed step does not stop the next.
main() {
  lib=${0%/*}
  failed=0
  [ -e /etc/aks-flex-node/agent-upgrade-signal.json ] || exit 0
  [ -x "$lib/aks-flex-node-last-good" ] || exit 1
  "$lib/aks-flex-node-last-good" recover-agent-upgrade --message 'agent service failed' || failed=1
  systemctl reset-failed aks-flex-node-agent.service || failed=1
  systemctl --no-block restart aks-flex-node-agent.service || failed=1
  exit "$failed"
}
main "$@" </dev/null
