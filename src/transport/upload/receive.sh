# shellcheck shell=sh
# main DIRECTORY SHA256 SIZE FROM ENCODING BYTES PIECE RUN BASE <encoded
# Puts the rest of a file, from byte FROM on, to what is there of it; a dot for each PIECE that has arrived. With its last
# byte it gets its name, DIRECTORY/.drover-SHA256, if that is its digest. What of it had arrived stays after a cut.
# 0 staged, 75 somebody else is at it: who is on standard error, 91 it cannot be written, 92 it is not whole,
# 93 another content, 94 somebody else may write to the directory that is on standard error, 95 there is less of it than
# FROM, 96 the disk is full
main() {
  set -u
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  umask 077
  # It may have been another one when it was looked at.
  if [ "$(readlink -f -- "$1")" != "$1" ] || ! is_fit "$1"; then
    echo "${unfit:-$1}" >&2
    return 94
  fi
  staged=${1%/}/.drover-$2 part=${1%/}/.drover-$2.part run=$8
  open_part "$2" || return
  [ "$(wc -c <"$part")" -ge "$4" ] || return 95
  truncate -s "$4" -- "$part" || return 91
  # How those that write to it are known again, should the connection die and they not notice.
  export DROVER_UPLOAD="$2 $run"
  exec 3>&1
  if ! received "$5" "$6" "$7" "${9-}" >>"$part"; then
    if [ "$(stat -f -c %a -- "$1")" -lt 64 ]; then
      # A host must not be left without room by a file that does not fit.
      rm -f -- "$part"
      return 96
    fi
    return 92
  fi
  [ "$(wc -c <"$part")" -eq "$3" ] || return 92
  sum=$(sha256sum <"$part") || return 91
  if [ "$sum" != "$2  -" ]; then
    rm -f -- "$part"
    return 93
  fi
  sync -- "$part" && mv -fT -- "$part" "$staged" && sync -- "$1" || return 91
}

# open_part SHA256: on descriptor 9, and locked, with all that write to it. 75, 91, 95
open_part() {
  if [ -e "$part" ] || [ -L "$part" ]; then is_mine || rm -f -- "$part" || return 91; fi
  # A bare `exec` would end the shell where the file cannot be written.
  command exec 9>>"$part" || return 91
  is_mine || return 91
  if ! flock -w 1 9; then
    at_it=$(writers "$1 $run\$")
    # Of another run only one from which nothing has come for so long that it cannot be alive.
    [ -n "$at_it" ] || [ $(($(date +%s) - $(stat -c %Y -- "$part"))) -lt 120 ] || at_it=$(writers "$1 ")
    # shellcheck disable=SC2086
    [ -z "$at_it" ] || kill $at_it 2>/dev/null
    if ! flock -w 3 9; then
      cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | sed -n "s/^DROVER_UPLOAD=$1 /run /p" | head -n 1 >&2
      return 75
    fi
  fi
  # Whoever had it has given it its name meanwhile.
  [ "$(stat -c %d:%i -- "$part" 2>/dev/null)" = "$(stat -Lc %d:%i /proc/self/fd/9)" ] || return 95
}

# is_mine: nobody else can have put the part there, or write to it now
is_mine() {
  [ -f "$part" ] && [ ! -L "$part" ] && [ "$(stat -c '%u %h' -- "$part")" = "$(id -u) 1" ]
}

# writers MARK: processes that write to such a file
writers() {
  grep -lzs "^DROVER_UPLOAD=$1" /proc/[0-9]*/environ | tr -dc '0-9\n'
}

# received ENCODING BYTES PIECE BASE
received() {
  case $1 in
    raw) pieces "$2" "$3" ;;
    gzip) pieces "$2" "$3" | gzip -dc ;;
    zstd) pieces "$2" "$3" | zstd -dcq --no-sparse ;;
    delta) pieces "$2" "$3" | zstd -dcq --no-sparse --long=31 --patch-from="$(readlink -f -- "$4")" ;;
  esac
}

# pieces BYTES PIECE: passes on what comes, and says so
pieces() {
  left=$1
  while [ "$left" -gt 0 ]; do
    dd bs="$2" count=1 iflag=fullblock 2>/dev/null || return
    printf . >&3 || return
    still_here
    left=$((left - $2))
  done
}

# still_here: a run that holds the host goes on holding it however long this takes
still_here() {
  [ -f /run/drover/lease ] || return 0
  read -r holder _ </run/drover/lease || return 0
  [ "$holder" != "$run" ] || touch -c -- /run/drover/lease
}

main "$@"
