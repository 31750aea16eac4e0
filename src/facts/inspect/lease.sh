# shellcheck shell=sh disable=SC2174
# lease take|free RUN OWNER TTL_S : from its first change to its last check a run holds the host. The apply
# unit's name already admits one apply at a time; the lease spans what lies between a run's execs.
# 0 done, 75 somebody else's: whose is on standard error, 74 the mutex is stuck, 91 it cannot be had
lease() {
  lock -w 10 || return
  hold "$@"
  code=$?
  exec 9>&-
  return "$code"
}

# let_go RUN OWNER TTL_S: the run's end: its lease, what its apply left to be read, and where nobody else is here all
# that drover has on the host
let_go() {
  case $1 in '' | .* | *[!A-Za-z0-9._-]*) return 91 ;; esac
  [ -d /run/drover ] || return 0
  lock -w 10 || return
  # An apply that is over is forgotten by systemd a moment later. One that is not is none of a late look's business.
  waited=0
  while is_busy && [ "$waited" -lt 20 ]; do
    sleep 0.1
    waited=$((waited + 1))
  done
  if ! is_busy; then
    # First what the lease stands for: a follower on a dead connection takes none any more once that is gone.
    rm -rf -- "/run/drover/$1"
    hold free "$@"
    clear_away
  fi
  exec 9>&-
}

# sweep TTL_S: what dead runs left, where nobody holds the host or works on it. A look that may change the host does so.
sweep() {
  [ -w /run/drover ] || return 0
  lock -n 2>/dev/null || return 0
  is_held "$1" || { rm -f -- "$lease"; clear_away; }
  exec 9>&-
}

# lock FLOCK_OPTION... : the mutex, on descriptor 9
lock() {
  lease=/run/drover/lease
  command -v flock >/dev/null || { echo 'the host has no flock, which is part of util-linux' >&2; return 91; }
  tries=0
  while [ "$tries" -lt 20 ]; do
    tries=$((tries + 1))
    # A bare `exec` would end the shell where the file cannot be written.
    if ! { mkdir -p -m 0700 /run/drover && command exec 9>>/run/drover/mutex; }; then
      [ ! -d /run/drover ] || return 91
      continue
    fi
    flock "$@" 9 || { echo '/run/drover/mutex is held by somebody who does not let go' >&2; return 74; }
    # Whoever went last has cleared it away, with us waiting for it.
    [ "$(stat -c %d:%i /run/drover/mutex 2>/dev/null)" != "$(stat -Lc %d:%i /proc/self/fd/9)" ] || return 0
  done
  return 91
}

# is_held TTL_S: there is a lease, and its run has been heard of
is_held() {
  [ -f "$lease" ] || return 1
  age=$(($(date +%s) - $(stat -c %Y "$lease")))
  # A negative age is a clock that was set back: such a lease would hold for as long as the jump.
  [ "$age" -ge 0 ] && [ "$age" -lt "$1" ]
}

# hold take|free RUN OWNER TTL_S, with the mutex
hold() {
  holder=
  if [ -f "$lease" ]; then
    read -r holder holder_owner _ holder_since <"$lease" # the caller has a $run of its own
    if [ "$holder" != "$2" ] && is_held "$4"; then
      echo "run $holder of $holder_owner, since $holder_since, last seen $age s ago" >&2
      return 75
    fi
  fi
  if [ "$1" = free ]; then
    [ "$holder" != "$2" ] || rm -f -- "$lease"
  elif [ "$holder" = "$2" ]; then
    touch -- "$lease" || return 91
  else
    # Its size is looked at, since some shells do not notice a disk that is full.
    if printf '%s %s since %s\n' "$2" "$3" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$lease.new" && [ -s "$lease.new" ]; then
      mv -fT -- "$lease.new" "$lease" && return
    fi
    rm -f -- "$lease.new"
    [ "$(stat -f -c %a /run/drover)" != 0 ] || echo 'the file system of /run/drover is full' >&2
    return 91
  fi
}

# is_busy: somebody's apply is at work, or was a moment ago
is_busy() {
  [ -e /run/systemd/transient/drover-apply.service ] ||
    { [ -s /run/drover/group ] && ! flock -n /run/drover/group true; }
}

# is_young FILE: its run may still come back for it, which it tries for two minutes
is_young() {
  [ $(($(date +%s) - $(stat -c %Y "$1"))) -lt 300 ]
}

# clear_away, with the mutex: /run/drover, unless somebody holds the host, works on it, or is still to hear of it
clear_away() {
  [ ! -e "$lease" ] && ! is_busy || return 0
  for used in /run/drover/starting /run/drover/.new.*/held; do
    [ ! -e "$used" ] || flock -n "$used" true || return 0
  done
  for left in /run/drover/*/result /run/drover/*/out /run/drover/cancelled; do
    [ ! -e "$left" ] || ! is_young "$left" || return 0
  done
  for left in /run/drover/*/token /run/drover/.new.*/held; do
    [ ! -e "$left" ] || rm -rf -- "${left%/*}"
  done
  rmdir /run/drover/owed /run/drover/.new.* 2>/dev/null
  [ ! -d /run/drover/owed ] || return 0
  for left in until cancelled group starting lease.new mutex; do rm -f -- "/run/drover/$left"; done
  # The other one where the line of a rollback was all that lay in it.
  rmdir /run/drover /var/lib/drover 2>/dev/null
}

# ask_lease take|free|sweep RUN OWNER TTL_S : the last look of a run lets the host go, one between two segments keeps it,
# and the first removes what dead runs left
ask_lease() {
  case $1 in
    # Renewed, never taken anew: a look that comes late would hold the host for a run that is over.
    take) [ ! -f /run/drover/lease ] || lease "$@" ;;
    free) shift; let_go "$@" ;;
    sweep) sweep "$4" ;;
  esac 2>&1 | encode
  echo
}
