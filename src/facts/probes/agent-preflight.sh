#!/bin/sh
# agent-preflight.sh BINARY CONFIG UNIT: the report of the agent's own preflight, on a host where the agent lies ready
# and is not installed yet. It judges fresh hosts alone and takes its time, so an installed agent is not asked; nor is a
# binary that is not root's (exec-of-root.sh).
main() {
  set -u
  if [ -e "$3" ] || [ ! -x "$1" ] || [ ! -f "$2" ]; then return 0; fi
  exec_of_root "$1" preflight --config "$2" --output json
}
main "$@" </dev/null
