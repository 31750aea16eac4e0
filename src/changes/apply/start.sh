# shellcheck shell=sh disable=SC2154,SC2034
# Starting an apply, once, whatever number of execs is at it.

# receive: all that arrives, into a directory of its own: another exec for the same apply may be doing the same
receive() {
  mkdir -- "$new" || return 91
  # Held for as long as this shell lives, which is how others tell what is in use.
  exec 7>"$new/held"
  flock -w 5 7 || return 91
  { take "$8" >"$new/script" && take "${10}" >"$new/content"; } || return 91
  if [ "$(wc -c <"$new/script")" -ne "$8" ] || [ "$(wc -c <"$new/content")" -ne "${10}" ]; then
    echo 'the script was cut on its way, or /run is full' >&2
    return 92
  fi
  if [ "$(sha256sum <"$new/script")" != "$9  -" ] || [ "$(sha256sum <"$new/content")" != "${11}  -" ]; then
    echo 'the script was damaged on its way' >&2
    return 93
  fi
  { touch "$new/out" && printf '%s\n' "$token" >"$new/token"; } || return 91
}

# take SIZE: exactly that many bytes of standard input. Not `head -c`, which may read ahead.
take() {
  [ "$1" -eq 0 ] || dd bs="$1" count=1 iflag=fullblock 2>/dev/null
}

# start RECEIVED ...: one at a time, and each apply once
start() {
  received=$1
  shift
  # `exec` would end the shell where the file cannot be written.
  touch "$base/starting" || return 91
  exec 8>"$base/starting"
  if ! flock -w 90 8; then
    rm -rf -- "$new"
    echo '/run/drover/starting has been held for 90 s' >&2
    return 74
  fi
  if is_there; then
    # An exec that was believed dead came first.
    received=0
  elif [ "$received" -eq 0 ]; then
    begin_apply "$@"
    received=$?
  fi
  exec 7>&-
  rm -rf -- "$new"
  [ "$received" -eq 0 ] || is_there || lease free "$1" "$2" "$3"
  exec 8>&-
  return "$received"
}

begin_apply() {
  [ "$(cat "$base/cancelled" 2>/dev/null)" != "$token" ] || return 98
  # A stall on the way (a paused machine, a slow upload) may have cost the lease: whoever has it now goes first.
  still_ours "$@" || return
  remove_old
  # What an earlier segment of this run left has been read.
  rm -rf -- "$run" || return 91
  mv -T -- "$new" "$run" || return 91
  rm -f -- "$run/held"
  read -r up _ </proc/uptime
  printf '%s\n' $((${up%.*} + $7)) >"$base/until"
  launch "$7" && return
  code=$?
  rm -rf -- "$run"
  return "$code"
}

# remove_old: what other runs left is over when nobody uses it; a young result may still have to be told to its run
remove_old() {
  for old in "$base"/.new.*; do
    [ ! -d "$old" ] || [ "$old" = "$new" ] || ! flock -n "$old/held" true || rm -rf -- "$old"
  done
  for old in "$base"/*/token; do
    [ -e "$old" ] || continue
    left=${old%/token}
    last=$left/result
    # What has been going on for so long, while nobody applies, never came to its end.
    [ -e "$last" ] || last=$left/out
    is_young "$last" || rm -rf -- "$left"
  done
}
