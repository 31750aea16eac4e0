# shellcheck shell=sh
# main RUN OWNER DEADLINE_S SCRIPT_SIZE SCRIPT_SHA256 CONTENT_SIZE CONTENT_SHA256 LEASE_TTL_S <script, content
# Starts the script as drover-apply.service, which a lost connection does not touch, and follows its output.
# 0 ended (its verdict is the \036R line), 75 somebody else is at work, 91-93 not started, 94 refused, 96 no result
main() {
  set -u
  umask 077
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  base=/run/drover run=/run/drover/$1 unit=drover-apply.service description="drover run $1 by $2"
  case $1 in '' | .* | *[!A-Za-z0-9._-]*) return 91 ;; esac
  lease take "$1" "$2" "$8" || return
  # What an earlier segment of this run left has been read; what other runs left is over.
  if [ -d "$run" ]; then rm -rf -- "$run" || return 91; fi
  new=$base/.new.$$
  mkdir -- "$new" || return 91
  take "$4" >"$new/script" && take "$6" >"$new/content" || return 91
  if [ "$(wc -c <"$new/script")" -ne "$4" ] || [ "$(wc -c <"$new/content")" -ne "$6" ]; then
    rm -rf -- "$new"
    echo 'the script was cut on its way' >&2
    return 92
  fi
  if [ "$(sha256sum <"$new/script")" != "$5  -" ] || [ "$(sha256sum <"$new/content")" != "$7  -" ]; then
    rm -rf -- "$new"
    echo 'the script was damaged on its way' >&2
    return 93
  fi
  # shellcheck disable=SC2016
  printf '%s\n' 't=$1/.result; printf "%s %s %s\n" "${SERVICE_RESULT:-?}" "${EXIT_CODE:-?}" "${EXIT_STATUS:-?}" >"$t" && mv -f "$t" "$1/result"' >"$new/end"
  : >"$new/out"
  mv -T -- "$new" "$run" || return 91
  launch "$1" "$3" 2>"$run/refused" || started || {
    case $(cat "$run/refused") in
      *'already loaded'*)
        systemctl show --no-pager -p Description --value "$unit" >&2
        return 75
        ;;
    esac
    cat "$run/refused" >&2
    lease free "$1" "$2" "$8"
    return 94
  }
  follow
  code=$?
  # The unit's own time does not count: after a success the lease lives on from here until the check.
  case $(cat "$run/result" 2>/dev/null) in *' exited 0') lease take "$1" "$2" "$8" ;; *) lease free "$1" "$2" "$8" ;; esac
  return "$code"
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
  [ "$(systemctl show --no-pager -p Description --value "$unit")" = "$description" ] && systemctl is-active --quiet "$unit"
}

follow() {
  pid=$(systemctl show --no-pager -p MainPID --value "$unit")
  if ours && [ "${pid:-0}" -gt 0 ]; then tail -c +1 -s 0.1 -f --pid="$pid" "$run/out"; else cat "$run/out"; fi
  # The main process is gone; the unit is over only when every process of it is.
  waited=0
  while ours && [ "$waited" -lt 1200 ]; do
    case $(systemctl show --no-pager -p ActiveState --value "$unit") in
      active | activating | deactivating | reloading) sleep 0.05 ;;
      *) break ;;
    esac
    waited=$((waited + 1))
  done
  [ -e "$run/result" ] || { echo 'the apply unit ended without a result' >&2; return 96; }
  printf '\036R %s\n' "$(cat "$run/result")"
}

ours() {
  [ "$(systemctl show --no-pager -p Description --value "$unit")" = "$description" ]
}

main "$@"
