# shellcheck shell=sh disable=SC2154
# Units of a guarded group: which of them run, and that they run what is there again.

# unit UNIT yes|no EXE : whether it was active, and what it then ran where that is known
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
  [ "$2" = no ] || return 0
  look "$1" || return
  case $active in inactive | failed) ;; *) timeout 100 systemctl stop -- "$1" ;; esac
}

# note_unit: which start of it was the last before everything was back
note_unit() {
  [ -e "before.$number" ] || { look "$1" && printf '%s\n' "$invocation" >"before.$number"; } || :
}

# settle_unit: it runs, was started after everything was back, and stays up
settle_unit() {
  [ "$2" = yes ] || return 0
  look "$1" || return
  before=unknown
  { read -r before <"before.$number"; } 2>/dev/null || :
  case $active in
    active | activating | reloading) [ "$invocation" = "$before" ] || [ "$before" = unknown ] ;;
  esac && {
    # Where it is denied, or the start limit is used up, the next attempt finds more of its window gone.
    systemctl reset-failed -- "$1" 2>/dev/null
    timeout 100 systemctl restart -- "$1" || { echo "$1 cannot be started"; return 1; }
  }
  stays_up "$1" && runs "$1" "$3"
}

# stays_up UNIT: for the same invocation
stays_up() {
  read -r up _ </proc/uptime
  until=$((${up%.*} + 60)) since='' seen=''
  while :; do
    look "$1" || return
    read -r up _ </proc/uptime
    up=${up%.*}
    if [ "$active" != active ]; then
      since=''
    elif [ -z "$since" ] || [ "$invocation" != "$seen" ]; then
      since=$up seen=$invocation
    elif [ $((up - since)) -gt "${SETTLE_S:-5}" ]; then
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
  [ "$exe" = "$2" ] || { echo "$1 runs $exe and not $2"; return 1; }
}
