# shellcheck shell=sh
# ask_self: drover's own marks: the lease, the apply that runs, what is owed, an armed rollback.
ask_self() {
  lease=/run/drover/lease
  if seen=$(stat -c %Y "$lease" 2>/dev/null); then
    age=$(($(date +%s) - seen))
    printf 'lease %s %s\n' "$age" "$(head -c 1024 "$lease" | encode)"
  fi
  if [ -d /run/drover ]; then
    # Where systemd would not have it, an apply is a process group that holds this lock.
    if [ -s /run/drover/group ] && ! flock -n /run/drover/group true; then
      printf 'applying %s\n' "$(head -c 1024 /run/drover/group | encode)"
    fi
    # Asking for a transient unit that is gone makes PID 1 of systemd 252 complain in the journal.
    if [ -e /run/systemd/transient/drover-apply.service ]; then
      case $(timeout 15 systemctl show --no-pager -p ActiveState --value drover-apply.service 2>/dev/null) in
        inactive | failed) ;;
        '') printf 'applying %s\n' "$(echo 'an apply of which systemd says nothing' | encode)" ;;
        *) printf 'applying %s\n' "$(timeout 15 systemctl show --no-pager -p Description --value drover-apply.service | encode)" ;;
      esac
    fi
    for mark in /run/drover/owed/*; do
      [ ! -f "$mark" ] || printf 'owed %s\n' "$(printf %s "${mark##*/}" | encode)"
    done
  fi
  for phase in armed undoing; do
    [ ! -f "/var/lib/drover/$phase/owner" ] ||
      printf 'rollback %s %s%s\n' "$phase" "$(head -c 1024 "/var/lib/drover/$phase/owner" | encode)" "$(proved "$phase")"
  done
  [ ! -f /var/lib/drover/rolled-back ] ||
    printf 'rollback rolled-back %s\n' "$(head -c 1024 /var/lib/drover/rolled-back | encode)"
  echo 'whole yes'
}

# proved armed|undoing: what the changes started was seen to be healthy, and has not been started again since
proved() {
  [ "$1" = armed ] && [ -s /var/lib/drover/armed/proved ] || return 0
  { IFS=' ' read -r unit started </var/lib/drover/armed/proved; } 2>/dev/null || return 0
  [ -z "$unit" ] || [ "$(timeout 15 systemctl show --no-pager -p InvocationID --value -- "$unit" 2>/dev/null)" = "$started" ] || return 0
  printf ' proved'
}

# ask_leftovers DIRECTORY... : temporary files of ours that a cut run left there. What was to come into a directory that
# is still to be made lies in the nearest one above it.
ask_leftovers() {
  listed=/
  for directory; do
    is_remote "$directory" && continue
    while [ -n "$directory" ] && [ ! -d "$directory" ]; do directory=${directory%/*}; done
    directory=${directory%/}
    case $listed in */"$directory"//*) continue ;; esac
    listed=$listed/$directory//
    for file in "$directory"/.drover.* "$directory"/.drover-*; do
      [ ! -e "$file" ] && [ ! -L "$file" ] || printf '%s\0' "$file"
    done
  done | encode
  echo
}
