#!/bin/sh
# config-secret.sh CONFIG: the file with a secret that config.json names, and what lies there by lstat. Which file that is
# stands in the configuration of the host, so it cannot be asked for by name. Nothing else of either is printed.
main() {
  set -u
  export LC_ALL=C
  if [ ! -f "$1" ] || [ ! -r "$1" ]; then return 0; fi
  path=$(tr '\n\r\t' '   ' <"$1" | sed -n 's/.*"clientSecretFile" *: *"\([^"]*\)".*/\1/p' | head -c 300)
  case $path in
    /*[!A-Za-z0-9.,:@+=/_-]*) return 0 ;;
    /*) ;;
    *) return 0 ;;
  esac
  printf 'path=%s\n' "$path"
  if [ ! -e "$path" ] && [ ! -L "$path" ]; then
    echo 'type=absent'
    return 0
  fi
  stat -c 'type=%F
mode=%a
size=%s' -- "$path"
}
main "$@" </dev/null
