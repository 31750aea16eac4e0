# shellcheck shell=sh
# exec_of_root FILE ARG...: becomes FILE, if nobody but root can have put it there or can put another one there: it, and
# every directory above its real place, is root's and not to be written by group or others. A sticky directory is no
# help: whoever may add files there may have been first. Else the first thing found wrong is said, and nothing is run.
exec_of_root() {
  file=$(readlink -f -- "$1") || return 127
  if [ ! -f "$file" ] || [ ! -x "$file" ]; then return 127; fi
  shift
  above=$file
  while :; do
    of_root "$above" || return 126
    [ "$above" != / ] || break
    above=${above%/*}
    [ -n "$above" ] || above=/
  done
  exec "$file" "$@"
}

# of_root PATH: 18 is 022, the bits of group and others
of_root() {
  state=$(stat -c '%u %a' -- "$1") || return 1
  if [ "${state% *}" != 0 ]; then
    printf 'not-roots=%s\n' "$1"
    return 1
  fi
  if [ $((0${state#* } & 18)) -ne 0 ]; then
    printf 'writable=%s\n' "$1"
    return 1
  fi
}
