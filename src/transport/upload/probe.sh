# shellcheck shell=sh
# main PATH SHA256 BASE BASE_SHA256 ... : four for each file; BASE is empty where there is none. A line of the programs
# that can unpack, then one for each file: where it is to be staged, what of it is there, and how much room there is; or
# which directory is the reason that it can be staged nowhere, and whose that is.
main() {
  set -u
  export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  printf 'programs'
  for program in zstd gzip; do
    ! command -v "$program" >/dev/null || printf ' %s' "$program"
  done
  echo
  while [ $# -gt 0 ]; do
    look "$@"
    shift 4
  done
}

# look PATH SHA256 BASE BASE_SHA256
look() {
  # The nearest directory that is there: one that is still to be made is made in the same file system.
  nearest=${1%/*}
  while [ -n "$nearest" ] && [ ! -d "$nearest" ]; do nearest=${nearest%/*}; done
  if ! find_fit "${nearest:-/}"; then
    printf 'file unfit 0 0 0 0 0 - - no %s %s\n' "$(printf %s "$unfit" | base64 -w0)" \
      "$(stat -c '%U, mode %a' -- "$unfit" | base64 -w0)"
    return
  fi
  staged=${place%/}/.drover-$2 state=none have=0
  if is_mine "$staged"; then
    state=whole
  elif is_mine "$staged.part"; then
    have=$(wc -c <"$staged.part") || have=0
  fi
  room=$(timeout 15 stat -f -c '%S %a %c %d' -- "$place") || room='0 0 0 0'
  device=$(timeout 15 stat -c %d -- "$place") || device=-
  options=$(timeout 15 findmnt -n -o OPTIONS -T "$place" 2>/dev/null | tail -n 1)
  base=no
  if [ -n "$3" ] && sum=$(timeout 60 sha256sum 2>/dev/null <"$3") && [ "$sum" = "$4  -" ]; then base=yes; fi
  printf 'file %s %s %s %s %s %s %s\n' "$state" "$have" "$room" "$device" "${options:--}" "$base" "$(printf %s "$place" | base64 -w0)"
}

# find_fit DIRECTORY: into $place that directory, or one above it from which a rename leads into it
find_fit() {
  place=$(readlink -f -- "$1")
  is_fit "$place" && return 0
  first=$unfit device=$(stat -c %d -- "$place")
  while [ "$place" != / ] && ! mountpoint -q -- "$place"; do
    place=${place%/*} place=${place:-/}
    [ "$(stat -c %d -- "$place")" = "$device" ] || break
    ! is_fit "$place" || return 0
  done
  unfit=$first
  return 1
}

# is_mine FILE: nobody else can have put it there, or write to it now
is_mine() {
  [ -f "$1" ] && [ ! -L "$1" ] && [ "$(stat -c '%u %h' -- "$1")" = "$(id -u) 1" ]
}

main "$@" </dev/null
