# shellcheck shell=sh
# know_mounts: what is mounted, and which of it is on a network
know_mounts() {
  mounts=$(cat /proc/self/mountinfo) # cannot block, and says which paths could
  # Mostly there is none, and then nothing is forked to find that out.
  network=
  case $mounts in
    *' - nfs'* | *' - cifs'* | *' - smb'* | *' - fuse'* | *' - autofs'* | *' - 9p'* | *' - ceph'* | *' - gluster'* | *' - afs'* | *' - lustre'*)
      network=$(network_mounts)
      ;;
  esac
}

# Mount points whose server may be gone: touching a path below one can block for ever, and no deadline on the
# host helps against that.
network_mounts() {
  # `rest` begins with the mount's own options: where it has no optional field, the dash comes right after them.
  printf '%s\n' "$mounts" | while read -r _ _ _ _ point rest; do
    case ${rest##* - } in
      nfs* | cifs* | smb* | fuse* | autofs* | 9p* | ceph* | gluster* | afs* | lustre*) unescaped "$point" ;;
    esac
  done
}

# unescaped POINT: as mountinfo writes it, a backslash and three digits for a blank and the like. `%b` wants a zero before
# the three, or takes a digit that follows them for one of its own.
unescaped() {
  case $1 in *\\*) printf '%b\n' "$(printf %s "$1" | sed 's/\\/\\0/g')" ;; *) printf '%s\n' "$1" ;; esac
}

# is_remote PATH [lstat]: walks it name by name, since a link may lead to such a mount point, and touches nothing
# below one. With `lstat` a link at its very end is not followed.
is_remote() {
  [ -n "$network" ] || return 1
  walked='' todo=$1 jumps=0
  while [ -n "$todo" ]; do
    name=${todo%%/*}
    case $todo in */*) todo=${todo#*/} ;; *) todo= ;; esac
    case $name in
      '' | .) continue ;;
      ..)
        walked=${walked%/*}
        continue
        ;;
    esac
    walked=$walked/$name
    ! is_network_place "$walked" || return 0
    [ -L "$walked" ] || continue
    [ -n "$todo" ] || [ "${2:-}" != lstat ] || continue
    jumps=$((jumps + 1))
    [ "$jumps" -le 40 ] || return 1
    link=$(readlink -n -- "$walked"; echo .)
    case $link in /*) walked= ;; *) walked=${walked%/*} ;; esac
    todo=${link%.}/$todo
  done
  return 1
}

# is_network_place PATH, a path without links. Asked for every name of every path, so nothing is forked here.
is_network_place() {
  set -f
  IFS='
'
  for point in $network; do
    case $1/ in "$point"/*) break ;; esac
    point=
  done
  unset IFS
  set +f
  [ -n "${point:-}" ]
}
