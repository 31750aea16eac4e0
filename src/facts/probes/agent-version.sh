#!/bin/sh
# agent-version.sh BINARY: what a binary of the agent says of itself, if it is root's (exec-of-root.sh).
main() {
  set -u
  exec_of_root "$1" version
}
main "$@" </dev/null
