# shellcheck shell=sh disable=SC2154,SC2034
# Big files: staged before the script began, or copied from another one of the host. What is done to such a file is done
# to what is open as 8, wherever its name may lead by then.

# place PATH MODE OWNER SHA256: the staged file into its place, by one rename
place() {
  if ! find_staged "${1%/*}" "$4"; then
    echo "what was brought here for $1 is not there any more"
    return 1
  fi
  place_opened "$@" 8<"$staged"
}

# place_opened PATH MODE OWNER SHA256
place_opened() {
  sum=$(sha256sum </proc/self/fd/8) || return
  if [ "$sum" != "$4  -" ]; then
    # The next run would take it for what it says it is.
    rm -f -- "$staged"
    echo "what was brought here for $1 has another content now"
    return 1
  fi
  # It waits in a directory above, which need not be on the same disk.
  if [ -n "$crossed" ] || [ "$(stat -c %d -- "$staged")" != "$(stat -Lc %d -- "${1%/*}/")" ]; then
    copy_file "$staged" "$4" "$1" "$2" "$3" && rm -f -- "$staged"
    return
  fi
  settle "$staged" "$1" "$2" "$3"
}

# find_staged DIRECTORY SHA256: in the directory or one above it, into $staged; nobody else can have put it there, nor
# can anybody put something else there. $crossed: a file system was left on the way
find_staged() {
  above=$(readlink -f -- "$1/") || return
  above=${above%/} crossed=
  while :; do
    staged=$above/.drover-$2
    if [ -f "$staged" ] && [ ! -L "$staged" ] && [ "$(stat -c '%u %h' -- "$staged")" = "$(id -u) 1" ] &&
      is_fit "${above:-/}"; then return 0; fi
    [ -n "$above" ] || return 1
    ! mountpoint -q -- "$above" || crossed=yes
    above=${above%/*}
  done
}

# copy_file FROM SHA256 PATH MODE OWNER: whole or not at all
copy_file() {
  beside "$3"
  umask 077
  set -C
  copy_opened "$@" 8>"$t"
  code=$?
  set +C
  umask 022
  [ "$code" -eq 0 ] || rm -f -- "$t"
  return "$code"
}

# copy_opened FROM SHA256 PATH MODE OWNER
copy_opened() {
  cat -- "$1" >&8 && sum=$(sha256sum </proc/self/fd/8) || return
  if [ "$sum" != "$2  -" ]; then
    echo "$1 has another content now"
    return 1
  fi
  settle "$t" "$3" "$4" "$5"
}

# settle FILE PATH MODE OWNER: the open file gets what belongs to it, and then its name
settle() {
  chown -- "$4" /proc/self/fd/8 && chmod -- "$3" /proc/self/fd/8 && label "$1" && sync -- /proc/self/fd/8 &&
    is_open "$1" && mv -fT -- "$1" "$2" && moved=yes && is_open "$2" && label "$2" && sync -- "${2%/*}/"
}

# is_open FILE: and no link that leads there
is_open() {
  [ "$(stat -c %d:%i -- "$1")" = "$(stat -Lc %d:%i /proc/self/fd/8)" ] && return 0
  echo "somebody has put another file in the place of $1"
  return 1
}
