#!/bin/sh
# authorize.sh USER LINE: let the holder of this key log in as USER.
main() {
  set -eu
  home=$(getent passwd "$1" | cut -d: -f6)
  [ -n "$home" ]
  install -d -m 0700 -o "$1" -g "$1" "$home/.ssh"
  printf '%s\n' "$2" >"$home/.ssh/authorized_keys"
  chown "$1:$1" "$home/.ssh/authorized_keys"
  chmod 0600 "$home/.ssh/authorized_keys"
}
main "$@" </dev/null
