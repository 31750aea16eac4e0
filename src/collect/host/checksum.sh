# shellcheck shell=sh
# checksum.sh FILE: whether the digest in FILE.sha256 is that of FILE. Exit 66: one of them is not there.
main() {
  set -u
  know_mounts
  for path in "$1" "$1.sha256"; do
    if is_remote "$path"; then
      printf '%s: on a network file system, not touched\n' "$path"
      return 66
    elif [ ! -f "$path" ] || [ ! -r "$path" ]; then
      printf '%s: not there, or only root may read it\n' "$path"
      return 66
    fi
  done
  is=$(sha256sum <"$1")
  says=$(head -c 64 -- "$1.sha256" | tr -cd '0-9A-Fa-f')
  is=${is%% *}
  if [ "$is" = "$says" ]; then echo 'they agree'; else echo 'THEY DIFFER'; fi
  printf 'of the file:  %s\nwritten down: %s\n' "$is" "$says"
}

main "$@" </dev/null
