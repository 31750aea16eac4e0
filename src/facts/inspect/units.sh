# shellcheck shell=sh
# ask_units PROPERTIES UNIT... : one batch, then what each MainPID in it runs (targets, say, have none)
ask_units() {
  properties=$1
  shift
  # A systemd that re-executes itself, as its own update has it do, answers nobody for a moment.
  answer=$(show_units "$@") || { [ -d /run/systemd/system ] && sleep 1 && answer=$(show_units "$@"); } || {
    code=$?
    why=$(timeout 20 systemctl show --no-pager -p Id -- "$@" 2>&1 >/dev/null | head -c 2048)
    printf 'failed %s %s\n' "$code" "$(printf %s "$why" | encode)"
    return 0
  }
  printf 'units %s\n' "$(printf '%s\n' "$answer" | encode)"
  printf '%s\n' "$answer" | while IFS='=' read -r key value; do
    [ "$key" = MainPID ] || continue
    case $value in '' | 0 | *[!0-9]*) continue ;; esac
    exe=$(readlink -- "/proc/$value/exe" 2>/dev/null) || exe=
    printf 'exe %s %s\n' "$value" "$(printf %s "$exe" | encode)"
  done
}

# show_units UNIT...
show_units() {
  timeout 20 systemctl show --no-pager -p "$properties" -- "$@" 2>/dev/null
}

# ask_starts UNIT... : for each, how many seconds ago it was started, in the last hour. No property
# of systemd shows the start-limit counter; its own journal line for a start does. Everybody may write a line with
# such an id into the journal, but not with _PID=1, and no text of a line may get into arithmetic (bash runs it).
ask_starts() {
  now=$(date +%s)
  for unit; do
    lines=$(timeout 15 journalctl -q --no-pager -o short-unix -S "@$((now - 3600))" \
      _PID=1 MESSAGE_ID=39f53479d3a045ac8e11786248231fbf "UNIT=$unit" 2>/dev/null) || { echo 'starts unknown'; continue; }
    printf 'starts'
    printf '%s\n' "$lines" |
      while read -r when _; do
        when=${when%%.*}
        case $when in '' | *[!0-9]*) continue ;; esac
        printf ' %s' $((now - when))
      done
    echo
  done
}
