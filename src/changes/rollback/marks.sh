# shellcheck shell=sh disable=SC2034
# What an armed rollback is on a host: a directory in /var/lib/drover that is called `armed` until it fires and `undoing`
# from then on, a service in /etc for the next boot, and for this one a timer and the guard that holds the lock.

# owner_of armed|undoing: its line into $line, its run into $holder; 1 where there is none
owner_of() {
  holder='' line=''
  [ -d "/var/lib/drover/$1" ] || return 1
  { read -r line <"/var/lib/drover/$1/owner"; } 2>/dev/null || :
  holder=${line%% *}
}

# how_it_ended RUN: the line that its rollback left, into $line
how_it_ended() {
  # The second is of a run that had been told of it, and is asked again: the answer may have been lost on its way.
  for place in /var/lib/drover/rolled-back "/run/drover/$1/rolled-back"; do
    line=''
    { read -r line <"$place"; } 2>/dev/null || continue
    [ "${line%% *}" != "$1" ] || return 0
  done
  return 1
}

# stop_transient UNIT. Asking for one that is gone makes PID 1 of systemd 252 complain in the journal.
stop_transient() {
  [ -e "/run/systemd/transient/$1" ] || return 0
  timeout 60 systemctl stop -- "$1" 2>/dev/null || [ ! -e "/run/systemd/transient/$1" ]
}

# stop_guard RUN: where it is that run's
stop_guard() {
  [ -e /run/systemd/transient/drover-guard.service ] || return 0
  case $(systemctl show --no-pager -p Description --value drover-guard.service) in
    "drover run $1 by "*) stop_transient drover-guard.service ;;
  esac
}

# sweep_rollback: where nothing is armed or being undone, what is left of it, also of an arming that was cut
sweep_rollback() {
  # In this order: firing renames the one to the other.
  [ ! -d /var/lib/drover/armed ] && [ ! -d /var/lib/drover/undoing ] || return 0
  stop_transient drover-rollback.timer
  wanted=/etc/systemd/system/multi-user.target.wants/drover-rollback.service
  service=/etc/systemd/system/drover-rollback.service
  if [ -e "$service" ] || [ -L "$wanted" ]; then
    rm -f -- "$wanted" "$service" && sync -- "${wanted%/*}" "${service%/*}"
    systemctl daemon-reload
  fi
  rm -f -- /etc/systemd/system/.drover.rollback.* /var/lib/drover/.rolled-back
  rm -rf -- /var/lib/drover/arming.* /var/lib/drover/confirmed.* /var/lib/drover/undone.*
  rmdir /var/lib/drover 2>/dev/null || :
}
