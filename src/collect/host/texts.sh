# shellcheck shell=sh
# texts.sh BYTES PATH...: the first bytes of small files. Of an URL what may be a secret stays on the host. Exit 66: of
# none of them there was anything to read, and why stands in the place of the text.
main() {
  set -u
  know_mounts
  bytes=$1 code=66 found=
  shift
  many=$#
  for path; do
    why=$(why_not "$path")
    [ "$why" != 'not there' ] || continue
    found=yes
    [ "$many" -eq 1 ] || printf '== %s\n' "$path"
    if [ -n "$why" ]; then
      echo "$why"
    else
      code=0
      head -c "$bytes" -- "$path" | without_url_secrets
    fi
  done
  [ -n "$found" ] || echo 'not there'
  return "$code"
}

# why_not PATH: no link is followed, for it may lead to a file that is secret
why_not() {
  if is_remote "$1" lstat; then
    echo 'on a network file system, not touched'
  elif [ -L "$1" ]; then
    echo 'a symbolic link, not followed'
  elif [ ! -e "$1" ]; then
    echo 'not there'
  elif [ ! -f "$1" ]; then
    echo 'no regular file'
  elif [ ! -r "$1" ]; then
    echo 'only root may read it'
  fi
}

without_url_secrets() {
  sed -e 's|://[^/"[:space:]]*@|://|g' -e 's|\(://[^"?#[:space:]]*\)[?#][^"[:space:]]*|\1|g'
}

main "$@" </dev/null
