# shellcheck shell=sh
# main PATH MODE OWNER SIZE SHA256 <content
# The content becomes the file, whole, or nothing is published. An empty OWNER: it belongs to whoever runs this.
# 0 published, 91 it cannot be written, 92 cut on its way, 93 damaged on its way, 94 written and not published
main() {
  set -u
  export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  umask 077
  staged=$(mktemp -- "${1%/*}/.drover.XXXXXXXXXX") || return 91
  trap 'rm -f -- "$staged"' EXIT
  trap 'exit 91' HUP INT TERM
  cat >"$staged" || return 91
  # A connection that breaks ends the input like any other end.
  [ "$(wc -c <"$staged")" -eq "$4" ] || return 92
  [ "$(sha256sum <"$staged")" = "$5  -" ] || return 93
  publish "$@" || return 94
}

publish() {
  { [ -z "$3" ] || chown -- "$3" "$staged"; } && chmod -- "$2" "$staged" && label "$staged" && sync -- "$staged" &&
    mv -fT -- "$staged" "$1" && label "$1" && sync -- "${1%/*}/"
}

# Twice: the staged file is never without a label of its directory, and some names have one of their own.
label() {
  ! command -v restorecon >/dev/null 2>&1 || restorecon -F -- "$1"
}

main "$@"
