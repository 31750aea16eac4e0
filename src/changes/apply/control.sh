# shellcheck shell=sh disable=SC2154
# systemctl, and waiting for what systemd does by itself.

# control VERB [UNIT]: the unit's own last words where it fails
control() {
  case $# in
    1) systemctl "$1" ;;
    *)
      systemctl "$1" -- "$2" && return 0
      code=$?
      words_of "$2"
      return "$code"
      ;;
  esac
}

# words_of UNIT: the last journal lines of its present or last invocation. By invocation id, since `-b` shows
# earlier boots in a container too.
words_of() {
  id=$(systemctl show --no-pager -p InvocationID --value -- "$1")
  systemctl show --no-pager -p ActiveState,SubState,Result,ExecMainStatus -- "$1" | tr '\n' ' '
  echo
  [ -n "$id" ] || return 0
  timeout 15 journalctl -q --no-pager -o cat -n 20 "_SYSTEMD_INVOCATION_ID=$id" + "INVOCATION_ID=$id" 2>/dev/null
}

# now: hundredths of a second since the boot, which no clock change moves
now() {
  read -r up _ </proc/uptime
  hundredths=1${up#*.}
  now=$((${up%.*} * 100 + hundredths - 100))
}

# wait_for WITHIN_MS STABLE_MS CONDITION ARG... : the condition holds, without a break and for the same
# invocation ($holds_for), for the whole stability window
wait_for() {
  now
  deadline=$((now + $1 / 10)) stable=$(($2 / 10)) since=$now before=
  shift 2
  while :; do
    holds_for=
    if "$@"; then
      now
      [ "$holds_for" = "$before" ] || since=$now
      before=$holds_for
      [ $((now - since)) -lt "$stable" ] || return 0
    else
      before=never
    fi
    now
    [ "$now" -lt "$deadline" ] || break
    sleep 0.1
  done
  case $1 in is_active | is_untouched) words_of "$2" ;; is_running) echo "machine $2 is ${holds_for:-not known to machinectl}" ;; esac
  return 1
}

is_active() {
  holds_for=$(systemctl show --no-pager -p ActiveState,InvocationID --value -- "$1" | tr '\n' ' ')
  case $holds_for in "active "* | *" active ") return 0 ;; esac
  return 1
}

# is_untouched UNIT MAIN_PID
is_untouched() {
  is_active "$1" && [ "$(systemctl show --no-pager -p MainPID --value -- "$1")" = "$2" ]
}

is_running() {
  holds_for=$(machinectl show -p State --value -- "$1" 2>/dev/null)
  [ "$holds_for" = running ]
}

# is_startable UNIT BELOW WINDOW_S: fewer starts than that in the window (see ask_starts)
is_startable() {
  count=$(timeout 15 journalctl -q --no-pager -o short-unix -n 100 -S "@$(($(date +%s) - $3))" \
    _PID=1 MESSAGE_ID=39f53479d3a045ac8e11786248231fbf "UNIT=$1" 2>/dev/null | grep -c .)
  holds_for=yes
  [ "$count" -lt "$2" ]
}
