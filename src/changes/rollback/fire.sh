# shellcheck shell=sh disable=SC2154,SC2034
# What an armed rollback does, as drover-rollback.service and before as part of arming. The script is these functions and
# then `group`, written by the workstation: one call for all that is to be undone.

# main need | save DIRECTORY | units | early | fire
main() {
  set -u
  export LC_ALL=C HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  case $1 in
    need)
      bytes=0 count=0
      each need && echo "$bytes $count"
      ;;
    save)
      cd -- "$2" && each save && state_of "$root" && printf %s "$state" >root && sync root
      ;;
    units) each units ;;
    early) is_early ;;
    fire) fire ;;
  esac
}

# each PASS: everything that is to be undone, in its order
each() {
  pass=$1 number=0
  group
}

# scope ROOT LOCK
scope() {
  root=$1 lock=$2
}

reload() {
  case $pass:${mended:-} in back:* | mend:yes) systemctl daemon-reload ;; esac
}

# is_early: its time has not come, this is no boot, and nobody has asked for it: somebody starts multi-user.target, which
# wants it, and that says nothing of what is to be confirmed
is_early() {
  [ ! -e /var/lib/drover/armed/now ] && [ -e /run/systemd/transient/drover-rollback.timer ] &&
    [ "$(systemctl show --no-pager -p SubState --value drover-rollback.timer)" = waiting ] &&
    echo 'drover: too early, so nothing is undone yet: its timer waits, and /var/lib/drover/armed/now is not there'
}

# fire: may be ended anywhere, and begins again at the next attempt
fire() {
  cd /var/lib/drover/undoing || return
  run='' operator='' since='' what=''
  read -r run operator since _ _ what <owner || :
  echo "undoing run $run of $operator, which nobody confirmed: $what"
  stop_those_at_work && each lock && take_lock || return
  lacking=''
  if [ -e back ]; then
    each mend || :
  else
    check_root && each check
    case $? in
      0) ;;
      10) conclude superseded; return ;;
      11) conclude superseded-by-move; return ;;
      *) return 1 ;;
    esac
    each stop || return
    put_back
  fi
  each note
  # What can be started is, in any case; what is lacking then is made up for at the next attempt.
  each worker || lacking="$lacking worker"
  # At boot the agent waits for this, and so would a restart of it.
  systemd-notify --ready
  each settle || lacking="$lacking unit"
  case $lacking in
    '') conclude rolled-back ;;
    ' unit') is_the_last && conclude rolled-back-not-up ;;
    *) return 1 ;;
  esac
}

# put_back: all that can be. From `back` on nobody asks any more what lies there: who runs from it may change it.
put_back() {
  each back || lacking=' files'
  # Both were kept for this moment: the disk may be full.
  rm -f spare
  [ -z "$lacking" ] || return
  # What was started from a part of it is started again.
  rm -f room before.*
  touch back
}

# is_the_last: attempt that is made, with all files back and their unit not up. What does not stay up by itself would hold
# the host for ever.
is_the_last() {
  tried=0
  { read -r tried <attempts; } 2>/dev/null || :
  case $tried in '' | *[!0-9]*) tried=0 ;; esac
  tried=$((tried + 1))
  printf '%s\n' "$tried" >.attempts && [ -s .attempts ] && mv -fT .attempts attempts
  [ "$tried" -ge "${ATTEMPTS:-20}" ]
}

# stop_those_at_work: nobody goes on while we go back, and the lock is ours
stop_those_at_work() {
  if [ -e /run/systemd/transient/drover-apply.service ] &&
    [ "$(systemctl show --no-pager -p Description --value drover-apply.service)" = "drover run $run by $operator" ]; then
    stop_transient drover-apply.service || return
  fi
  stop_transient drover-guard.service
}

take_lock() {
  umask 077
  exec 9>>"$lock"
  umask 022
  flock -w 60 9 || { echo "$lock is held by somebody who does not let go"; return 1; }
}

# conclude HOW: the line that the next run tells of, and then nothing is left but that
conclude() {
  echo "run $run: $1"
  systemd-notify --ready
  cd /var/lib/drover || return
  rm -f undoing/room undoing/spare
  # Its size is looked at, since some shells do not notice a disk that is full.
  printf '%s\n' "$run $operator $since $1 $(date -u +%Y-%m-%dT%H:%M:%SZ) $what" >.rolled-back && [ -s .rolled-back ] &&
    sync .rolled-back && mv -fT .rolled-back rolled-back && mv -T undoing "undone.$run" && sync . || return
  sweep_rollback
}
