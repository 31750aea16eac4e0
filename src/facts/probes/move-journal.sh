#!/bin/sh
# move-journal.sh UNIT MARK...: what the unit last said of a move of its files that does not go on. Where none of the
# marks of a move is there the journal is not opened, so it costs the other hosts nothing.
main() {
  set -u
  export LC_ALL=C
  unit=$1
  shift
  for mark in "$@"; do
    if [ -e "$mark" ]; then
      said "$unit"
      return 0
    fi
  done
}

# said UNIT: the failure itself rather than the wait that follows it. Ten minutes are four rounds of a stuck move.
said() {
  # Not -n: with --since that gives the first lines before systemd 254, and not the last.
  timeout 10 journalctl -q --no-pager -o cat --since '10 min ago' -u "$1" 2>/dev/null | tail -n 400 | {
    failed='' held=''
    while IFS= read -r line; do
      case $line in
        *"could not move the agent's files"*) failed=$line ;;
        *'not taking work until the daemon is restarted'*) held=$line ;;
      esac
    done
    printf '%s\n' "${failed:-$held}"
  }
}

main "$@" </dev/null
