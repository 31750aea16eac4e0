# shellcheck shell=sh disable=SC2154,SC2034
# Files and links of a guarded group: kept before anything is changed, and put back. In the directory of the rollback.

# place PATH WAS OURS... : how it was, and all that the changes of the group make of it, each as state_of says it,
# or `any` for a file that is not only theirs
place() {
  number=$((number + 1))
  case $pass in
    need | save | check | mend) "${pass}_place" "$@" ;;
    # One that cannot be put back keeps none of the others from it.
    back) back_place "$@" || lacking=' files' ;;
  esac
}

# state_of PATH: into $state: absent, link:TEXT, file:SHA256, directory, other
state_of() {
  if [ -L "$1" ]; then
    text=$(readlink -n -- "$1" && echo .) || return
    state=link:${text%.}
  elif [ -f "$1" ]; then
    sum=$(sha256sum <"$1") || return
    state=file:${sum%% *}
  elif [ -d "$1" ]; then
    state=directory
  elif [ -e "$1" ]; then
    state=other
  else
    state=absent
  fi
}

# shown STATE: without the digest, which for a file of secrets is one more
shown() {
  case $1 in file:*) echo 'another file' ;; *) printf '%s\n' "$1" ;; esac
}

need_place() {
  case $2 in
    file:*)
      size=$(stat -c %s -- "$1") || return
      bytes=$((bytes + size)) count=$((count + 1))
      ;;
  esac
}

save_place() {
  copy=$1
  case $2 in
    file:*)
      copy=files/$number
      cp --reflink=auto -a -- "$1" "$copy" && sync -- "$copy" || return
      ;;
  esac
  state_of "$copy" || return
  [ "$state" = "$2" ] || { echo "$1 is $(shown "$state") now, and not what it was when this was planned"; return 1; }
}

# check_place: 10 where it is neither how it was nor what we made of it
check_place() {
  path=$1
  shift
  state_of "$path" || return
  # `any`: the agent itself writes it at every start.
  for known; do case $known:$state in "$state:$state" | any:file:* | any:absent) return 0 ;; esac; done
  echo "$path is $(shown "$state") now, which this run did not make of it"
  return 10
}

back_place() {
  beside=${1%/*}/.drover.$run
  # Also what an apply left that was stopped in the middle of a change.
  rm -f -- "$beside".* 2>/dev/null
  state_of "$1" || return
  ! is_back "$1" "$2" || return 0
  beside=$beside.undo
  case $2 in
    absent) rm -f -- "$1" ;;
    link:*) ln -s -- "${2#link:}" "$beside" && mv -fT -- "$beside" "$1" ;;
    file:*)
      cp --reflink=auto -a -- "files/$number" "$beside" && state_of "$beside" && [ "$state" = "$2" ] &&
        sync -- "$beside" && mv -fT -- "$beside" "$1" && label "$1"
      ;;
  esac && sync -- "${1%/*}/" && return
  rm -f -- "$beside"
  echo "$1 cannot be put back"
  return 1
}

# mend_place: what a candidate that still ran may have written once more after it was put back
mend_place() {
  for known; do :; done
  [ "$known" = any ] && [ -f "$1" ] && state_of "$1" && ! is_back "$1" "$2" || return 0
  if back_place "$@"; then mended=yes; fi
}

# is_back PATH WAS: in $state, with mode and owner
is_back() {
  [ "$state" = "$2" ] || return
  [ ! -f "files/$number" ] || [ "$(stat -c '%a %u %g' -- "$1")" = "$(stat -c '%a %u %g' "files/$number")" ]
}

# label PATH: the copy has the right one wherever cp could keep it
label() {
  ! command -v restorecon >/dev/null 2>&1 || restorecon -F -- "$1" || :
}

# check_root: 11 where the agent has moved its files meanwhile, or is about it
check_root() {
  if [ -e "$root/.moving" ] || [ -L "$root/.moving" ]; then
    echo "$root/.moving is there: the agent moves its files"
    return 11
  fi
  saved=$(cat root && echo .) || return
  saved=${saved%.}
  state_of "$root" || return
  # A newer agent makes this very link at its first start, which changes nothing for the older one.
  [ "$state" = "$saved" ] || [ "$saved:$state" = absent:link:/usr/local ] || {
    echo "$root is $(shown "$state") now, which this run did not make of it"
    return 11
  }
}
