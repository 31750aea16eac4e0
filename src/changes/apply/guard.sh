# shellcheck shell=sh disable=SC2154,SC2174
# Holding the agent's lock, and arming a rollback that the host's systemd owns (mechanisms.md 2).

# can_guard: this host's systemd can do all that is needed without us; $operator is who runs this
can_guard() {
  [ ! -e "$dir/supervised" ] || { echo 'the apply is no unit of systemd here, which could not undo it either'; return 1; }
  for needed in flock systemd-run systemd-notify; do
    command -v "$needed" >/dev/null || { echo "the host has no $needed"; return 1; }
  done
  operator=$(systemctl show --no-pager -p Description --value drover-apply.service)
  case $operator in
    "drover run $run by "?*) operator=${operator#"drover run $run by "} ;;
    *) echo 'systemd does not say whose apply this is'; return 1 ;;
  esac
  for phase in armed undoing; do
    owner_of "$phase" || continue
    # shellcheck disable=SC2086
    set -- $line
    echo "a rollback is $phase on this host: of run ${1:-?} of ${2:-?}, since ${3:-?}"
    return 9
  done
}

# hold LOCK FOR_S
hold() {
  can_guard || return
  # What a dead run left: nothing is armed, and the only apply on this host is this one.
  stop_transient drover-guard.service || return
  refused=$(timeout 60 systemd-run --quiet --collect --no-ask-password --unit=drover-guard.service --description="drover run $run by $operator" \
    -p Type=notify -p NotifyAccess=all -p TimeoutStartSec=30s -p TimeoutStopSec=5s -p RuntimeMaxSec="$2" -p LogLevelMax=notice -p UMask=0077 \
    flock -n -E 75 "$1" /bin/sh -c "systemd-notify --ready && exec sleep $2" 2>&1) &&
    systemctl is-active --quiet drover-guard.service && held=yes && return
  if who=$(lock_holder "$1"); then
    echo "$1 is held by $who"
    return 75
  fi
  printf '%s\n' "$refused" "nobody holds $1 now"
  return 1
}

# release_lock: what this run holds and nothing armed needs
release_lock() {
  can_guard || return
  held=
  [ -e /run/systemd/transient/drover-guard.service ] || return 0
  case $(systemctl show --no-pager -p Description --value drover-guard.service) in
    "drover run $run by $operator") stop_transient drover-guard.service ;;
    *) echo 'drover-guard.service is of another run'; return 1 ;;
  esac
}

# lock_holder LOCK: off the kernel's list, as the probe reads it
lock_holder() {
  id=$(stat -Lc '%d %i' -- "$1") || return
  device=${id% *}
  id=$(printf '%02x:%02x:%s' $((device / 256 % 4096)) $((device % 256 + (device >> 20) * 256)) "${id#* }")
  pid=$(sed -n "s/^[0-9]*: FLOCK .* \([0-9]*\) $id .*/\1/p" /proc/locks | head -n 1)
  [ -n "$pid" ] || return
  name=
  { read -r name <"/proc/$pid/comm"; } 2>/dev/null || :
  echo "process $pid (${name:-?}, $(grep -o '[^/]*\.service' "/proc/$pid/cgroup" 2>/dev/null | tail -n 1))"
}

# arm WHAT CANDIDATE WITHIN_S OFFSET SIZE SHA256: the last rename is what arms; before it the host would undo nothing
arm() {
  can_guard && is_held || return
  sweep_rollback
  arming=/var/lib/drover/arming.$run
  keep "$@" && schedule "$3" && sign "$1" "$2" && mv -T -- "$arming" /var/lib/drover/armed && sync /var/lib/drover && {
    # How an earlier one ended was there to be read when this run looked at the host.
    rm -f /var/lib/drover/rolled-back
    return
  }
  code=$?
  sweep_rollback
  return "$code"
}

# is_held: what `hold` took is; to make room for a start may have taken minutes
is_held() {
  [ -n "${held:-}" ] || return 0
  # Asking for one that is gone makes PID 1 of systemd 252 complain in the journal.
  if [ -e /run/systemd/transient/drover-guard.service ]; then
    case $(systemctl show --no-pager -p ActiveState,Description drover-guard.service | sort | tr '\n' ' ') in
      "ActiveState=active Description=drover run $run by $operator ") return 0 ;;
    esac
  fi
  echo 'the lock is not held any more: drover-guard.service has ended'
  return 1
}

# keep WHAT CANDIDATE WITHIN_S OFFSET SIZE SHA256: all that undoing needs
keep() {
  mkdir -p -m 0700 /var/lib/drover && has_room 0 0 && mkdir -m 0700 -- "$arming" "$arming/files" || return
  tail -c "+$(($4 + 1))" "$dir/content" 2>/dev/null | head -c "$5" >"$arming/undo"
  if [ "$(wc -c <"$arming/undo")" -ne "$5" ] || [ "$(sha256sum <"$arming/undo")" != "$6  -" ]; then
    echo 'what undoes this cannot be written to /var/lib/drover'
    return 93
  fi
  needed=$(/bin/sh "$arming/undo" need) || return
  has_room "${needed% *}" "${needed#* }" && /bin/sh "$arming/undo" save "$arming" || return
  # To be given back when the disk is full, and the end of the undo is to be written down.
  for room in room spare; do
    head -c 16384 /dev/zero >"$arming/$room" && [ "$(wc -c <"$arming/$room")" -eq 16384 ] && sync -- "$arming/$room" || return
  done
  sync -- "$arming/undo" "$arming/files"
}

# has_room BYTES FILES
has_room() {
  free=$(stat -f -c '%a %S %d %c' /var/lib/drover) || return
  # shellcheck disable=SC2086
  set -- "$1" "$2" $free
  [ $(($3 * $4)) -gt $(($1 + 262144)) ] || { echo "/var/lib/drover has $(($3 * $4 / 1024)) KiB left, and $(($1 / 1024 + 256)) are needed to keep what is replaced"; return 91; }
  # Some file systems make inodes as they need them, and count none.
  [ "$6" -eq 0 ] || [ "$5" -gt $(($2 + 16)) ] || { echo "/var/lib/drover has only $5 inodes left"; return 91; }
}

# schedule WITHIN_S: a service for the next boot, and for this one a timer with an absolute deadline: a relative one would begin
# again at every daemon-reload. $fires is the uptime then.
schedule() {
  before=$(/bin/sh "$arming/undo" units | tr '\n' ' ')
  case $before in *[!A-Za-z0-9:_.@\ -]*) echo "units of such names are not guarded: $before"; return 1 ;; esac
  etc=/etc/systemd/system service=drover-rollback.service
  beside=$etc/.drover.rollback.$run
  [ -w "$etc" ] || { echo "$etc is read-only, so nothing could undo this after a reboot"; return 1; }
  rollback_unit "$before" >"$beside" && [ -s "$beside" ] && chmod 0644 "$beside" && label "$beside" && sync "$beside" && mv -fT "$beside" "$etc/$service" &&
    mkdir -p "$etc/multi-user.target.wants" && ln -sfn "../$service" "$etc/multi-user.target.wants/$service" &&
    sync "$etc" "$etc/multi-user.target.wants" && systemctl daemon-reload || return
  [ "$(systemctl show --no-pager -p LoadState --value "$service")" = loaded ] || { echo "systemd does not load $service"; return 1; }
  booted=$(systemctl show --no-pager -p UserspaceTimestampMonotonic --value) && now || return
  fires=$((now / 100 + $1))
  timeout 60 systemd-run --quiet --collect --no-ask-password --unit="$service" --on-startup=$((fires - booted / 1000000)) \
    --timer-property=AccuracySec=1s --description="drover: run $run is to be confirmed in time" || return
  [ "$(systemctl show --no-pager -p ActiveState --value drover-rollback.timer)" = active ] || { echo 'systemd does not keep the timer'; return 1; }
}

# sign WHAT CANDIDATE
sign() {
  printf '%s\n' "$run $operator $(date -u +%Y-%m-%dT%H:%M:%SZ) $fires ${2:--} $(printf %s "$1" | tr '\n' ' ')" >"$arming/owner" &&
    [ -s "$arming/owner" ] && sync -- "$arming/owner" "$arming"
}

# rollback_unit UNITS: who fires says so by a rename in the service itself, since a script in the directory could find it
# gone. Where that fails with all of it there, it is tried again. Ready when everything is back: the units that wait for it
# at a boot, and would otherwise start what is to be undone, are restarted by it after that.
rollback_unit() {
  printf '%s\n' '[Unit]' "Description=drover: undo run $run, which nobody confirmed" \
    'ConditionPathExists=|/var/lib/drover/armed' 'ConditionPathExists=|/var/lib/drover/undoing' \
    'RequiresMountsFor=/var/lib/drover' 'After=local-fs.target' "Before=$1" \
    'StartLimitIntervalSec=0' 'CollectMode=inactive-or-failed' '' \
    '[Service]' 'Type=notify' 'NotifyAccess=all' 'UMask=0022' 'SyslogIdentifier=drover' \
    "ExecStart=/bin/sh -c 'cd /var/lib/drover && if [ ! -d undoing ] && /bin/sh armed/undo early; then systemd-notify --ready; exit 0; fi 2>/dev/null && { [ -d undoing ] || mv -T armed undoing; } 2>/dev/null || { systemd-notify --ready; [ ! -d /var/lib/drover/armed ]; exit; }; exec /bin/sh undoing/undo fire'" \
    'TimeoutStartSec=5min' 'TimeoutStopSec=20s' 'RuntimeMaxSec=10min' 'Restart=on-failure' 'RestartSec=30s' '' \
    '[Install]' 'WantedBy=multi-user.target'
}

# proved: the changes came to their end and what they start was seen to be healthy, so that another run may confirm it. It
# holds for this start of it. Without the mark only this run confirms.
proved() {
  guarded=$(/bin/sh /var/lib/drover/armed/undo units 2>/dev/null | head -n 1)
  started=''
  [ -z "$guarded" ] || started=$(systemctl show --no-pager -p InvocationID --value -- "$guarded")
  mark=/var/lib/drover/armed/proved
  if printf '%s %s\n' "$guarded" "$started" >"$mark"; then sync -- "$mark" "${mark%/*}"; fi 2>/dev/null
}

# confirm RUN: one that a dead run armed
confirm() {
  disarm "$1" && return
  code=$?
  case $code in
    3) echo "nothing of run $1 is armed" ;;
    7) echo "what run $1 armed has fired" ;;
    8) echo 'another run has armed a rollback' ;;
  esac
  return "$code"
}

# fire_now RUN WITHIN_S
fire_now() {
  roll_back "$@" && return
  code=$?
  case $code in
    3) echo "nothing of run $1 is armed" ;;
    4) echo 'it was undone, and what ran before does not stay up' ;;
    5) echo 'nothing was undone, since somebody else has changed what was to be undone' ;;
    6) echo "it is not over after $2 s, and goes on by itself" ;;
    8) echo 'another run has armed a rollback' ;;
  esac
  return "$code"
}
