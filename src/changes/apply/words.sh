# shellcheck shell=sh disable=SC2154,SC2094
# What commands say, bounded: of each the first and the last are kept, whatever its length.

# bounded COMMAND...: with its exit code. Its output is drained to the end, also by what it leaves running.
bounded() {
  words=$dir/words.$number.$temp
  temp=$((temp + 1))
  mkfifo -m 0600 -- "$words" || return
  # What a command says may be secret.
  ( umask 077; drain "$words" ) <"$words" &
  printf '%s\n' "$words" >"$dir/speaking"
  "$@" >"$words" 2>&1
  code=$?
  # A daemon that it left may hold the pipe open for ever: what has been said in a second is all that is waited for.
  waited=0
  until [ -e "$words.end" ] || [ "$waited" -ge 50 ]; do
    sleep 0.02
    waited=$((waited + 1))
  done
  printf '' >"$dir/speaking"
  tell "$words"
  # Where somebody still speaks, the files go on, and go with the directory.
  [ ! -e "$words.end" ] || rm -f -- "$words" "$words".*
  return "$code"
}

# drain NAME: standard input into pieces of a bounded size, NAME.100000 and on: the first and the last two are kept.
# dd, because it writes at once what it has read: a command that hangs has said before what it waits for.
drain() {
  piece=100000
  while dd bs=4096 count=512 of="$1.$piece" 2>/dev/null && [ -s "$1.$piece" ]; do
    [ "$piece" -lt 100003 ] || rm -f -- "$1.$((piece - 2))"
    piece=$((piece + 1))
  done
  # Where /run is full nothing is kept any more, but whoever speaks is not to end by that.
  cat >/dev/null
  touch -- "$1.end"
}

# tell NAME: what was kept of it. After a megabyte of such words in one apply only a little of each.
tell() {
  part=65536
  [ "$(wc -c <"$dir/out")" -lt 1048576 ] || part=2048
  said=0
  for piece in "$1".1?????; do
    [ ! -e "$piece" ] || said=$((said + $(wc -c <"$piece")))
  done
  [ "$said" -gt 0 ] || return 0
  if [ "$said" -le $((part * 2)) ]; then
    cat "$1".1?????
  else
    head -c "$part" "$1.100000"
    printf '\n[drover leaves out what came between]\n'
    cat "$1".1????? | tail -c "$part"
  fi
}
