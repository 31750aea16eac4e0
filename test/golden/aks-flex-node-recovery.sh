#!/bin/sh
set -u

signal=/etc/aks-flex-node/agent-upgrade-signal.json
last_good=/opt/unbounded/agent/lib/aks-flex-node/aks-flex-node-last-good
unit=aks-flex-node-agent.service

main() {
  [ -e "$signal" ] || return 0
  if [ ! -x "$last_good" ]; then
    echo "cannot recover: $last_good is not executable" >&2
    return 1
  fi
  status=0
  "$last_good" recover-agent-upgrade --message "the agent failed after an upgrade" || status=$?
  systemctl reset-failed "$unit" || status=$?
  systemctl --no-block restart "$unit" || status=$?
  return "$status"
}

main "$@"
