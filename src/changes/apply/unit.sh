# shellcheck shell=sh disable=SC2154
# The apply that is at work: drover-apply.service, or where systemd would not have it a process group whose
# supervisor holds the lock /run/drover/group.

# is_at_work: somebody's apply is; $owner says whose
is_at_work() {
  if [ -s /run/drover/group ] && ! flock -n /run/drover/group true; then
    owner=$(cat /run/drover/group)
    return
  fi
  # Asking for a transient unit that is gone makes PID 1 of systemd 252 complain in the journal.
  [ -e "/run/systemd/transient/$unit" ] || return 1
  property ActiveState
  case $value in
    active | activating | deactivating | reloading) ;;
    inactive | failed) return 1 ;;
    *)
      # A systemd that does not answer says nothing of the work; who does it can be seen without.
      owner='an apply of which systemd says nothing'
      [ -z "$(marked "$run")" ] || owner=$description
      grep -qzs '^DROVER_APPLY=/run/drover/' /proc/[0-9]*/environ
      return
      ;;
  esac
  property Description
  owner=$value
}

# is_ours: this run's apply is at work
is_ours() {
  is_at_work && [ "$owner" = "$description" ]
}

# main_pid: of the apply that is at work, into $pid; 1 where it is gone already
main_pid() {
  if [ -e "$run/supervisor" ]; then
    pid=$(cat "$run/supervisor")
  else
    property MainPID
    pid=$value
  fi
  [ "${pid:-0}" -gt 0 ]
}

# property NAME: of the unit, into $value. A systemd that re-executes itself, as its own update has it do, answers nobody for
# a moment. That says nothing about the unit, so it is asked again; for some ten seconds at the most.
property() {
  tries=0
  until value=$(timeout 5 systemctl show --no-pager -p "$1" --value "$unit" 2>/dev/null); do
    [ $? -ne 124 ] || tries=$((tries + 49))
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || break
    sleep 0.1
  done
}

# marked DIRECTORY: the processes that the apply of that directory started, wherever they have gone since
marked() {
  grep -lzxF -- "DROVER_APPLY=$1" /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\n'
}
