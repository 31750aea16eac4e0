# shellcheck shell=sh disable=SC2154
# Units of a guarded group: which of them run, and that they run what is there again.

# unit UNIT up|unsteady|failed|down EXE : how it stood before, and what it then ran where that is known
unit() {
  number=$((number + 1))
  case $pass in
    units) printf '%s\n' "$1" ;;
    stop | note | settle) "${pass}_unit" "$@" ;;
  esac
}

# look UNIT: into $active, $invocation and $pid
look() {
  shown=$(systemctl show --no-pager -p ActiveState,InvocationID,MainPID -- "$1") || return
  active=${shown#*ActiveState=} invocation=${shown#*InvocationID=} pid=${shown#*MainPID=}
  active=${active%%[!a-z]*} invocation=${invocation%%[!0-9a-f]*} pid=${pid%%[!0-9]*}
}

# stop_unit: one that did not run before, while what it runs is still ours
stop_unit() {
  case $2 in down | failed) ;; *) return 0 ;; esac
  look "$1" || return
  case $active in inactive | failed) ;; *) timeout 100 systemctl stop -- "$1" ;; esac
}

# note_unit: which start of it was the last before everything was back. An empty note is one of a full disk.
note_unit() {
  [ -s "before.$number" ] || { look "$1" && printf '%s\n' "${invocation:-none}" >"before.$number"; } || :
}

# settle_unit: it was started after everything was back, and stands as it did before
settle_unit() {
  [ "$2" != down ] || return 0
  look "$1" || return
  before=''
  { read -r before <"before.$number"; } 2>/dev/null || :
  before=${before:-${invocation:-none}}
  # Where it is denied, or the start limit is used up, the next attempt finds more of its window gone.
  is_anew "$2" || systemctl reset-failed -- "$1" 2>/dev/null
  case $2 in
    # What comes of it is what would come of it at a boot.
    failed) systemctl --no-block start -- "$1" ;;
    unsteady) is_anew "$2" || { systemctl --no-block restart -- "$1" && starts_anew "$1"; } ;;
    up)
      is_anew "$2" || timeout 100 systemctl restart -- "$1" || { echo "$1 cannot be started"; return 1; }
      stays_up "$1" && runs "$1" "$3"
      ;;
  esac
}

# is_anew HOW: started after everything was back, and where it is to stay up it has not ended since
is_anew() {
  [ "${invocation:-none}" != "$before" ] || return
  case $1:$active in up:active | up:activating | up:reloading | up:refreshing) ;; up:*) return 1 ;; esac
}

# starts_anew UNIT: within a while, since there is nothing else of it to wait for
starts_anew() {
  waited=0
  while look "$1" && [ "${invocation:-none}" = "$before" ]; do
    [ "$waited" -lt 60 ] || { echo "$1 cannot be started: it is $active"; return 1; }
    waited=$((waited + 1))
    sleep 0.5
  done
}

# stays_up UNIT: for the same invocation
stays_up() {
  read -r up _ </proc/uptime
  until=$((${up%.*} + 60)) steady='' seen=''
  while :; do
    look "$1" || return
    read -r up _ </proc/uptime
    up=${up%.*}
    if [ "$active" != active ]; then
      steady=''
    elif [ -z "$steady" ] || [ "$invocation" != "$seen" ]; then
      steady=$up seen=$invocation
    elif [ $((up - steady)) -gt "${SETTLE_S:-5}" ]; then
      return 0
    fi
    case $active in inactive | failed) break ;; esac
    [ "$up" -lt "$until" ] || break
    sleep 0.5
  done
  echo "$1 does not stay up: it is $active"
  return 1
}

# runs UNIT EXE
runs() {
  [ -n "$2" ] || return 0
  exe=$(readlink "/proc/$pid/exe") || exe=nothing
  [ "$exe" != "$2" ] || return 0
  echo "$1 runs $exe and not $2"
  # It was not started from what is back, whatever was noted of it.
  [ ! -e back ] || rm -f -- "before.$number"
  return 1
}
