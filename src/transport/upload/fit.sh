# shellcheck shell=sh disable=SC2034
# Whose a directory is that a file waits in.

# is_fit DIRECTORY, a real path: nobody but root and whoever runs this can put something else in the place of what lies
# in it. Otherwise $unfit is the first directory, from there up, that lets somebody.
is_fit() {
  level=${1%/} holds=files
  while is_guarded "${level:-/}" "$holds"; do
    [ -n "$level" ] || return 0
    level=${level%/*} holds=directories
  done
  unfit=${level:-/}
  return 1
}

# is_guarded DIRECTORY HOLDS
is_guarded() {
  told=$(stat -c '%u %a' -- "$1") || return
  case $(id -u):${told% *} in
    0:0) ;;
    0:*) return 1 ;;
    *:0) return 0 ;;
    *) [ "${told% *}" = "$(id -u)" ]; return ;;
  esac
  case ${told#* } in
    # What is root's in a sticky directory, as this is for those above, stays where it is.
    [1357]???) [ "$2" = directories ] || ! is_shared "${told#* }" ;;
    *) ! is_shared "${told#* }" ;;
  esac
}

# is_shared MODE: its group or all may write there
is_shared() {
  case $1 in *[2367]? | *[2367]) return 0 ;; *) return 1 ;; esac
}
