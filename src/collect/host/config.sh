# shellcheck shell=sh
# config.sh PATH: mode, size and digest of the agent's configuration, and the few fields that are no secret, each by the
# form its value has to have. Nothing else of the file leaves the host. Exit 66: it cannot be read, and why.
main() {
  set -u
  know_mounts
  config=$1
  if is_remote "$config"; then
    echo 'on a network file system, not touched'
    return 66
  elif [ ! -f "$config" ]; then
    echo 'not there'
    return 66
  fi
  stat -c '%A %a %U:%G %s bytes, changed %y' -- "$config"
  [ -r "$config" ] || { echo 'only root may read it'; return 0; }
  digest=$(sha256sum <"$config")
  printf 'sha256: %s\n' "${digest%% *}"
  field logLevel '[a-z]{1,16}'
  field nodeName '[a-z0-9.-]{1,253}'
  field mode '[A-Za-z-]{1,16}'
  for component in kubernetes containerd runc; do field "$component" 'v?[0-9]{1,4}[.][0-9]{1,4}[.0-9]{0,12}'; done
  field source '(https?://[A-Za-z0-9.-]+(:[0-9]+)?)?/[A-Za-z0-9._/-]*'
}

# field NAME FORM: what follows a `?` or `#` is left out, and a value with anything else in it altogether
field() {
  grep -Eo "\"$1\"[[:space:]]*:[[:space:]]*\"$2[\"?#]" -- "$config" | sed -e 's|[?#]$|" (and more, left out)|'
}

main "$@" </dev/null
