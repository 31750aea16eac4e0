# shellcheck shell=sh
# digests.sh PATH...: SHA-256 of what each leads to. Most of them are names of one file, which is read once.
main() {
  set -u
  know_mounts
  known=
  for path; do
    if is_remote "$path"; then
      printf '%s: on a network file system, not touched\n' "$path"
    elif [ ! -f "$path" ]; then
      printf '%s: no such file\n' "$path"
    else
      id=$(stat -Lc %d:%i -- "$path")
      case $known in
        *" $id="*) digest=${known##*" $id="} digest=${digest%% *} ;;
        *)
          digest=$(sha256sum <"$path") || digest=unreadable
          digest=${digest%% *}
          known="$known $id=$digest "
          ;;
      esac
      printf '%s  %s\n' "$digest" "$path"
    fi
  done
}

main "$@" </dev/null
