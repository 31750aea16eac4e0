# shellcheck shell=sh disable=SC2154
# Confirming and firing. Each begins by renaming the directory `armed`, so exactly one of them wins.

# disarm RUN: 0 confirmed, also when it was before; 3 nothing of that run is armed, 7 it is rolled back or about to be
# (its line, once there is one), 8 another run's is armed (its line), 91 it cannot be disarmed
disarm() {
  case $1 in '' | .* | *[!A-Za-z0-9._-]*) return 91 ;; esac
  if owner_of armed; then
    [ "$holder" = "$1" ] || { printf '%s\n' "$line"; return 8; }
    mv -T -- /var/lib/drover/armed "/var/lib/drover/confirmed.$1" 2>/dev/null && sync /var/lib/drover
  fi
  if [ -d "/var/lib/drover/confirmed.$1" ]; then
    # For whoever asks again because the answer was lost.
    [ ! -d "/run/drover/$1" ] || touch -- "/run/drover/$1/confirmed"
    stop_guard "$1"
    sweep_rollback
    return 0
  fi
  if owner_of undoing; then
    [ "$holder" = "$1" ] && return 7
    printf '%s\n' "$line"
    return 8
  fi
  if how_it_ended "$1"; then
    printf '%s\n' "$line"
    return 7
  fi
  [ ! -d /var/lib/drover/armed ] || { echo 'the armed rollback cannot be renamed: is /var read-only?' >&2; return 91; }
  [ -e "/run/drover/$1/confirmed" ] || return 3
  sweep_rollback
}

# roll_back RUN WITHIN_S: 0 done, 3 nothing of that run is armed, 4 it is undone and the unit does not stay up, 5 nothing
# was undone, since somebody else has changed it; 6 it still tries, 8 another run's is armed. On standard output: the line
# that says how it ended, and then what the unit said before.
roll_back() {
  case $1 in '' | .* | *[!A-Za-z0-9._-]*) return 91 ;; esac
  last_words=''
  for phase in armed undoing; do
    owner_of "$phase" || continue
    [ "$holder" = "$1" ] || { printf '%s\n' "$line"; return 8; }
    guarded=$(/bin/sh "/var/lib/drover/$phase/undo" units 2>/dev/null | head -n 1)
    [ -z "$guarded" ] || last_words=$(words_of "$guarded" 2>/dev/null)
    fire_service
    break
  done
  if ! is_over "$2"; then
    words_of drover-rollback.service >&2
    return 6
  fi
  if ! how_it_ended "$1"; then
    stop_guard "$1"
    sweep_rollback
    return 3
  fi
  printf '%s\n' "$line"
  [ -z "$last_words" ] || printf '%s\n' "$last_words"
  [ ! -d "/run/drover/$1" ] || printf '%s\n' "$line" >"/run/drover/$1/rolled-back"
  rm -f -- /var/lib/drover/rolled-back
  rmdir /var/lib/drover 2>/dev/null
  # Not in the text for people, which is the end of it.
  # shellcheck disable=SC2086
  case $(set -f; set -- $line; echo "${4:-}") in
    superseded | superseded-by-move) return 5 ;;
    rolled-back-not-up) return 4 ;;
  esac
}

# fire_service: now, and not when its timer or its next attempt comes
fire_service() {
  # Without this it does nothing while its timer still waits. Where it cannot be written the timer is not to wait.
  touch /var/lib/drover/armed/now 2>/dev/null || stop_transient drover-rollback.timer
  how=start
  # A start would wait for that attempt.
  [ "$(systemctl show --no-pager -p SubState --value drover-rollback.service)" != auto-restart ] || how=restart
  timeout 60 systemctl --no-block "$how" drover-rollback.service
}

# is_over WITHIN_S: within that time, and nothing is left of it
is_over() {
  read -r up _ </proc/uptime
  until=$((${up%.*} + $1))
  while [ -d /var/lib/drover/armed ] || [ -d /var/lib/drover/undoing ] || [ -e /etc/systemd/system/drover-rollback.service ] ||
    ! systemctl show --no-pager -p ActiveState --value drover-rollback.service | grep -qxE 'inactive|failed'; do
    read -r up _ </proc/uptime
    [ "${up%.*}" -lt "$until" ] || return 1
    sleep 0.2
  done
}
