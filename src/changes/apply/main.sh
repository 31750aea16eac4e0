# shellcheck shell=sh
# main RUN OWNER DEADLINE_S SCRIPT_SIZE SCRIPT_SHA256 CONTENT_SIZE CONTENT_SHA256 LEASE_TTL_S TOKEN <script, content
# Starts the script as drover-apply.service, which a lost connection does not touch, and follows its output.
# 0 ended (its verdict is the line \036TOKEN R), 75 somebody else is at work, 91-93 not started, 94 refused, 96 no result
main() {
  set -u
  umask 077
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  base=/run/drover run=/run/drover/$1 unit=drover-apply.service description="drover run $1 by $2"
  case $1 in '' | .* | *[!A-Za-z0-9._-]*) return 91 ;; esac
  # Whoever applies for longer than a lease lasts still holds the host.
  still_ours "$@" || return
  new=$base/.new.$$
  prepare "$@" || {
    code=$?
    rm -rf -- "$new"
    lease free "$1" "$2" "$8"
    return "$code"
  }
  # A stall on the way (a paused machine, a slow upload) may have cost the lease: whoever has it now goes first.
  still_ours "$@" || {
    code=$?
    rm -rf -- "$run"
    return "$code"
  }
  launch "$1" "$3" 2>"$run/refused" || started || {
    refused=$(cat "$run/refused")
    rm -rf -- "$run"
    lease free "$1" "$2" "$8"
    case $refused in
      *'already loaded'*)
        systemctl show --no-pager -p Description --value "$unit" >&2
        return 75
        ;;
    esac
    printf '%s\n' "$refused" >&2
    return 94
  }
  follow "$9"
  code=$?
  # The unit's own time does not count: after a success the lease lives on from here until the check.
  case $(cat "$run/result" 2>/dev/null) in *' exited 0') lease take "$1" "$2" "$8" ;; *) lease free "$1" "$2" "$8" ;; esac
  return "$code"
}

# still_ours: nobody applies, and the lease is this run's, renewed. 75 otherwise
still_ours() {
  if is_at_work; then
    property Description
    printf '%s\n' "$value" >&2
    return 75
  fi
  lease take "$1" "$2" "$8"
}

# prepare: the directory of the run, whole or not at all
prepare() {
  # What an earlier segment of this run left has been read; what other runs left is over.
  rm -rf -- "$run" "$base"/.new.* || return 91
  now=$(date +%s)
  for old in "$base"/*/result; do
    # A young one may still have to be told to its run.
    [ ! -e "$old" ] || [ $((now - $(stat -c %Y "$old"))) -lt "$8" ] || rm -rf -- "${old%/result}"
  done
  # What has had a script for longer than a lease lasts, while nobody applies, never came to its end.
  for old in "$base"/*/script; do
    if [ ! -e "$old" ] || [ $((now - $(stat -c %Y "$old"))) -lt "$8" ]; then continue; fi
    still_ours "$@" || return
    rm -rf -- "${old%/script}"
  done
  mkdir -- "$new" || return 91
  { take "$4" >"$new/script" && take "$6" >"$new/content"; } || return 91
  if [ "$(wc -c <"$new/script")" -ne "$4" ] || [ "$(wc -c <"$new/content")" -ne "$6" ]; then
    echo 'the script was cut on its way, or /run is full' >&2
    return 92
  fi
  if [ "$(sha256sum <"$new/script")" != "$5  -" ] || [ "$(sha256sum <"$new/content")" != "$7  -" ]; then
    echo 'the script was damaged on its way' >&2
    return 93
  fi
  # The content may be secret, and the unit is the last to need it.
  # shellcheck disable=SC2016
  printf '%s\n' 'rm -f "$1/content" "$1/script"' 't=$1/.result' \
    'printf "%s %s %s\n" "${SERVICE_RESULT:-?}" "${EXIT_CODE:-?}" "${EXIT_STATUS:-?}" >"$t" && mv -f "$t" "$1/result"' >"$new/end" || return 91
  touch "$new/out" || return 91
  mv -T -- "$new" "$run" || return 91
}

# take SIZE: exactly that many bytes of standard input. Not `head -c`, which may read ahead.
take() {
  [ "$1" -eq 0 ] || dd bs="$1" count=1 iflag=fullblock 2>/dev/null
}

# launch RUN DEADLINE_S. Never --wait or --pipe: output to a dead connection would kill the script.
launch() {
  systemd-run --quiet --collect --no-ask-password --unit="$unit" --description="$description" \
    -p Type=exec -p KillMode=control-group -p TimeoutStopSec=10s -p RuntimeMaxSec="$2" -p LogLevelMax=notice \
    -p UMask=0022 -p StandardInput=null -p StandardOutput="append:$run/out" -p StandardError="append:$run/out" \
    -p ExecStopPost="/bin/sh $run/end $run" --setenv=LC_ALL=C --setenv=HOME=/root \
    --setenv=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    /bin/sh "$run/script" "$run"
}

# A script that ends at once can make systemd-run 252 fail although the unit ran: look before believing it.
started() {
  [ -e "$run/result" ] && return 0
  ours && is_at_work
}

# follow TOKEN
follow() {
  property MainPID
  pid=$value
  if ours && [ "${pid:-0}" -gt 0 ]; then tail -c +1 -s 0.1 -f --pid="$pid" "$run/out"; else cat "$run/out"; fi
  # The main process is gone; the unit is over only when every process of it is.
  waited=0
  while ours && [ "$waited" -lt 1200 ]; do
    is_at_work || break
    sleep 0.05
    waited=$((waited + 1))
  done
  [ -e "$run/result" ] || { echo 'the apply unit ended without a result' >&2; return 96; }
  printf '\036%s R %s\n' "$1" "$(cat "$run/result")"
}

is_at_work() {
  # Asking for a transient unit that is gone makes PID 1 of systemd 252 complain in the journal.
  [ -e "/run/systemd/transient/$unit" ] || return 1
  property ActiveState
  case $value in
    active | activating | deactivating | reloading) return 0 ;;
  esac
  return 1
}

ours() {
  property Description
  [ "$value" = "$description" ]
}

# property NAME: of the unit, into $value. A systemd that re-executes itself, as its own update has it do, answers nobody for
# a moment. That says nothing about the unit, so it is asked again; for ten seconds at the most.
property() {
  tries=0
  until value=$(timeout 5 systemctl show --no-pager -p "$1" --value "$unit" 2>/dev/null); do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || break
    sleep 0.1
  done
}

main "$@"
