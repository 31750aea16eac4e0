#!/bin/sh
# mounts-below.sh PATH...: what is mounted at these places or below, as the kernel writes it. Others are left out, since
# the whole list is too long for an answer on a node with many pods.
main() {
  set -u
  places=' '
  for path; do
    # Where no directory is nothing is mounted.
    place=$(cd -P -- "$path" 2>/dev/null && pwd -P) && places="$places$place "
  done
  set -f
  while read -r _ _ _ _ point _; do
    for place in $places; do
      case $point/ in "${place%/}"/*) printf 'mount=%s\n' "$point" ;; esac
    done
  done </proc/self/mountinfo
  echo 'whole=yes'
}

main "$@" </dev/null
