# shellcheck shell=sh disable=SC2154
# systemctl, and waiting for what systemd does by itself.

# control VERB [UNIT]: the unit's own last words where it fails. A start is only queued: how long it may take is for
# the wait after it to say, and a unit whose start hangs must not hold this script up.
control() {
  case $# in
    1) systemctl "$1" ;;
    *)
      queue=
      [ "$1" != start ] || queue=--no-block
      systemctl $queue "$1" -- "$2" && return 0
      code=$?
      words_of "$2"
      return "$code"
      ;;
  esac
}

# words_of UNIT: its last journal lines since PID 1 started, and how it stands: `-b` shows earlier boots in a container
# too. Not by invocation id, which is missing from the last words of a process that is gone before the journal has
# looked at it.
words_of() {
  booted=$(systemctl show --no-pager -p UserspaceTimestampMonotonic --value)
  now
  # Not `-n`: with `-S` it means the first lines and not the last before systemd 254.
  timeout 15 journalctl -q --no-pager -o cat -u "$1" -S "-$((now / 100 - ${booted:-0} / 1000000 + 1))s" 2>/dev/null | tail -n 15 | tail -c 16384
  systemctl show --no-pager -p ActiveState,SubState,Result,ExecMainStatus -- "$1" | tr '\n' ' '
  echo
}

# now: hundredths of a second since the boot, which no clock change moves
now() {
  read -r up _ </proc/uptime
  hundredths=1${up#*.}
  now=$((${up%.*} * 100 + hundredths - 100))
}

# wait_for WITHIN_MS STABLE_MS CONDITION ARG... : the condition holds, without a break and for the same
# invocation ($holds_for), for the whole stability window. A condition returns 2 when waiting on is in vain.
wait_for() {
  now
  deadline=$((now + $1 / 10)) stable=$(($2 / 10)) since=$now before=
  shift 2
  while :; do
    holds_for=
    "$@"
    case $? in
      0)
        now
        [ "$holds_for" = "$before" ] || since=$now
        before=$holds_for
        [ $((now - since)) -lt "$stable" ] || return 0
        ;;
      2) break ;;
      *) before=never ;;
    esac
    now
    [ "$now" -lt "$deadline" ] || break
    sleep 0.1
  done
  case $1 in is_active | is_untouched | is_running_from) words_of "$2" ;; is_running) echo "machine $2 is ${holds_for:-not known to machinectl}" ;; esac
  case $1 in is_running_from | succeeds | answers) show_last ;; esac
  return 1
}

# wait_or_go_on WITHIN_MS STABLE_MS CONDITION ARG...
wait_or_go_on() {
  wait_for "$@" || echo "not so within $(($1 / 1000)) s"
}

# is_gone PATH
is_gone() {
  [ ! -e "$1" ] && [ ! -L "$1" ]
}

# is_active UNIT: in vain once it has failed, nothing is queued for it, and systemd will not try again by itself
is_active() {
  shown=$(systemctl show --no-pager -p ActiveState,InvocationID,Job -- "$1") || return 1
  holds_for=${shown#*InvocationID=}
  holds_for=${holds_for%%[!0-9a-f]*}
  case $shown in
    *ActiveState=active*) return 0 ;;
    *Job=[1-9]*) return 1 ;;
    *ActiveState=failed*) return 2 ;;
  esac
  return 1
}

# is_untouched UNIT MAIN_PID
is_untouched() {
  is_active "$1" || return
  [ "$(systemctl show --no-pager -p MainPID --value -- "$1")" = "$2" ]
}

is_running() {
  holds_for=$(machinectl show -p State --value -- "$1" 2>/dev/null)
  [ "$holds_for" = running ]
}

# is_startable UNIT BELOW WINDOW_S: fewer starts than that in the window (see ask_starts)
is_startable() {
  lines=$(timeout 15 journalctl -q --no-pager -o short-unix -S "@$(($(date +%s) - $3))" \
    _PID=1 MESSAGE_ID=39f53479d3a045ac8e11786248231fbf "UNIT=$1" 2>/dev/null) || return 1
  count=$(printf '%s\n' "$lines" | grep -c .)
  holds_for=yes
  [ "$count" -lt "$2" ]
}
