#!/bin/sh
# bootstrap.sh [--install-dir DIR]: from a fresh host to a node. Settings are AKS_FLEX_NODE_* in the environment.
#
# Exits 0: the agent is installed and runs. 78: no retry can succeed before something is corrected. 1: anything else.
# No setting is in the environment of a program that is started here, and none that may be secret is an argument of one.
# shellcheck disable=SC2154,SC2034   # `settings` assigns the variables of `take`, and the other parts use what stands here

HOST_ROOT=/opt/unbounded/agent
LEGACY_ROOT=/usr/local
AGENT_UNIT=/etc/systemd/system/aks-flex-node-agent.service
LOCK=/run/aks-flex-node-agent-upgrade.lock

main() {
  work='' staged=''
  trap clean EXIT
  trap 'exit 1' HUP INT TERM
  umask 077
  settings
  arguments "$@"
  check_host
  check_settings
  work=$(mktemp -d) || fail "no directory for temporary files can be made"
  install_binary
  render_config
  write_config
  unset secret url overrides oci_image offline
  join
}

say() { printf 'bootstrap: %s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }
give_up() { say "$@"; say 'This is not tried again: it cannot succeed before it is corrected.'; exit 78; }

clean() {
  if [ -n "$staged" ]; then rm -f -- "${staged:?}"; fi
  if [ -n "$work" ]; then rm -rf -- "${work:?}"; fi
}

# take VARIABLE SETTING: out of the environment, into a variable that no program inherits
take() { eval "unset $1; $1=\${AKS_FLEX_NODE_$2-}; unset AKS_FLEX_NODE_$2"; }


main "$@"
