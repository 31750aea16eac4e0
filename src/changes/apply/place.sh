# shellcheck shell=sh disable=SC2154,SC2034
# Big files: staged before the script began, or copied from another one of the host.

# place PATH MODE OWNER SHA256: the staged file into its place, by one rename
place() {
  if ! find_staged "${1%/*}" "$4"; then
    echo "what was brought here for $1 is not there any more"
    return 1
  fi
  sum=$(sha256sum <"$staged") || return
  if [ "$sum" != "$4  -" ]; then
    # The next run would take it for what it says it is.
    rm -f -- "$staged"
    echo "what was brought here for $1 has another content now"
    return 1
  fi
  # It waits in a directory above, which need not be on the same disk.
  if [ "$(stat -c %d -- "$staged")" != "$(stat -Lc %d -- "${1%/*}/")" ]; then
    copy_file "$staged" "$4" "$1" "$2" "$3" && rm -f -- "$staged"
    return
  fi
  chown -- "$3" "$staged" && chmod -- "$2" "$staged" && label "$staged" && sync -- "$staged" &&
    mv -fT -- "$staged" "$1" && moved=yes && label "$1" && sync -- "${1%/*}/"
}

# find_staged DIRECTORY SHA256: in the directory or one above it, into $staged; nobody else can have put it there
find_staged() {
  above=$1
  while :; do
    staged=$above/.drover-$2
    if [ -f "$staged" ] && [ ! -L "$staged" ] && [ "$(stat -c '%u %h' -- "$staged")" = "$(id -u) 1" ]; then return 0; fi
    [ -n "$above" ] || return 1
    above=${above%/*}
  done
}

# copy_file FROM SHA256 PATH MODE OWNER: whole or not at all
copy_file() {
  beside "$3"
  ( umask 077; set -C; cat -- "$1" >"$t" ) &&
    sum=$(sha256sum <"$t") && { [ "$sum" = "$2  -" ] || { echo "$1 has another content now"; false; }; } &&
    chown -- "$5" "$t" && chmod -- "$4" "$t" && label "$t" && sync -- "$t" &&
    mv -fT -- "$t" "$3" && moved=yes && label "$3" && sync -- "${3%/*}/" && return 0
  code=$?
  rm -f -- "$t"
  return "$code"
}
