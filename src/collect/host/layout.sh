# shellcheck shell=sh
# layout.sh [DEPTH PATH]...: what lies there by lstat, with mode, owner, size, time and link text, and nothing of its content
main() {
  set -u
  know_mounts
  while [ $# -gt 0 ]; do
    show "$1" "$2" named
    shift 2
  done
}

# show DEPTH PATH [named]. A name that nobody gave and that is not there is only a pattern without a match.
show() {
  if is_remote "$2" lstat; then
    printf '%s: on a network file system, not touched\n' "$2"
  elif [ ! -L "$2" ] && [ ! -e "$2" ]; then
    [ -z "${3:-}" ] || printf '%s: not there\n' "$2"
  else
    stat -c '%A %a %U:%G %s %y %N' -- "$2"
    if [ "$1" -gt 0 ] && [ ! -L "$2" ] && [ -d "$2" ]; then
      for entry in "$2"/* "$2"/.[!.]* "$2"/..?*; do
        show "$(($1 - 1))" "$entry"
      done
    fi
  fi
}

main "$@" </dev/null
