# shellcheck shell=sh disable=SC2174
# lease take|free RUN OWNER TTL_S : from its first change to its last check a run holds the host. The apply
# unit's name already admits one apply at a time; the lease spans what lies between a run's execs.
# 0 done, 75 somebody else's: whose is on standard error, 74 the mutex is stuck
lease() {
  file=/run/drover/lease
  mkdir -p -m 0700 /run/drover || return 91
  # `exec` would end the shell where the file cannot be written.
  touch /run/drover/mutex || return 91
  exec 9>/run/drover/mutex
  command -v flock >/dev/null || { echo 'the host has no flock, which is part of util-linux' >&2; return 91; }
  flock -w 10 9 || { echo '/run/drover/mutex has been held for 10 s' >&2; return 74; }
  if [ -f "$file" ]; then
    read -r holder holder_owner _ holder_since <"$file" # the caller has a $run of its own
    age=$(($(date +%s) - $(stat -c %Y "$file")))
    # A negative age is a clock that was set back: such a lease would hold for as long as the jump.
    if [ "$holder" != "$2" ] && [ "$age" -ge 0 ] && [ "$age" -lt "$4" ]; then
      echo "run $holder of $holder_owner, since $holder_since, last seen $age s ago" >&2
      exec 9>&-
      return 75
    fi
    [ "$1" = take ] || { [ "$holder" != "$2" ] || rm -f "$file"; }
  fi
  if [ "$1" = take ]; then
    if [ -f "$file" ] && [ "$holder" = "$2" ]; then touch "$file"; else
      printf '%s %s since %s\n' "$2" "$3" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$file.new" && mv -fT "$file.new" "$file"
    fi || { exec 9>&-; return 91; }
  fi
  exec 9>&-
}
# forget RUN: what its apply left to be read, once that has been
forget() {
  case $1 in '' | .* | *[!A-Za-z0-9._-]*) return 91 ;; esac
  rm -rf -- "/run/drover/$1"
}
# ask_lease take|free RUN OWNER TTL_S : the last look of a run lets the host go, one between two segments keeps it
ask_lease() {
  # First what the lease stands for: a follower on a dead connection takes none any more once that is gone.
  [ "$1" != free ] || forget "$2"
  lease "$@" 2>&1 | encode
  echo
}
