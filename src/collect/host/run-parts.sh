#!/bin/sh
# run-parts.sh BUDGET_S [NAME SECONDS BYTES KEEP COUNT ARG...]...: runs each command in turn, all of which only read, and
# passes on what it says: base64, its exit code. Each has an end in time and in bytes, and all of them together have one
# in time, so that a host in trouble still gives what it can. A mark before each lets the workstation name the one that hangs.
main() {
  set -u
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  export TERM=dumb SYSTEMD_COLORS=0
  umask 077
  printf 'uid %s\n' "$(id -u)"
  read -r up _ </proc/uptime
  end=$((${up%.*} + $1))
  shift
  while [ $# -gt 0 ]; do
    name=$1 seconds=$2 bytes=$3 keep=$4 count=$5
    shift 5
    printf '\036P %s\n' "$name"
    read -r up _ </proc/uptime
    left=$((end - ${up%.*}))
    [ "$seconds" -le "$left" ] || seconds=$left
    if [ "$seconds" -gt 0 ]; then
      (
        k=0
        for arg; do
          shift
          k=$((k + 1))
          [ "$k" -gt "$count" ] || set -- "$@" "$arg"
        done
        part "$@"
      )
    else
      echo 'skipped'
    fi
    shift "$count"
  done
  printf '\036P end\n'
}

# part ARG...
part() {
  printf 'read '
  { code=$({ { timeout -k 2 "$seconds" "$@" 2>&1; echo $? >&3; } | kept | base64 -w0 >&4; } 3>&1); } 4>&1
  printf ' %s\n' "$code"
}

kept() {
  if [ "$keep" = last ]; then tail -c "$bytes"; else head -c "$bytes"; fi
}

main "$@" </dev/null
