# shellcheck shell=sh
# space.sh PATH...: room and inodes of the file system of each, or of the nearest directory above. Not df, which looks at
# every mount there is.
main() {
  set -u
  know_mounts
  for path; do
    at=$path
    while ! is_remote "$at" && [ ! -e "$at" ] && [ -n "$at" ]; do at=${at%/*}; done
    if is_remote "$at"; then
      printf '%s: on a network file system, not touched\n' "$path"
    else
      stat -f -c "$path: %T, blocks of %S: %b, free %f, for all users %a; inodes %c, free %d" -- "${at:-/}"
    fi
  done
}

main "$@" </dev/null
