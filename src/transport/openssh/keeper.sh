#!/bin/sh
# Outlives drover, if need be, and cleans up behind it: the ssh processes would go on for ever, and the folder with
# their sockets would stay. Reads `add PID` and `drop PID` for the process groups there are. When drover is gone, however
# it went, the input ends.
main() {
  trap '' INT TERM HUP QUIT
  groups=''
  while read -r verb pid; do
    case $verb in
      add) groups="$groups $pid" ;;
      drop)
        rest=''
        for group in $groups; do
          [ "$group" = "$pid" ] || rest="$rest $group"
        done
        groups=$rest
        ;;
    esac
  done
  for group in $groups; do
    kill -TERM "-$group" 2>/dev/null
  done
  rm -rf -- "$1"
}
main "$@"
