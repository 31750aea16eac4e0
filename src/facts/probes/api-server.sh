#!/bin/sh
# api-server.sh [CONFIG]: does the API server that config.json names answer /readyz?
# The file is full of secrets. Two fields are cut out of it, nothing of it is printed, and only an address
# of harmless characters, without user, query or fragment, reaches a command line.
main() {
  set -u
  export LC_ALL=C
  config=${1:-/etc/aks-flex-node/config.json}
  if [ ! -e "$config" ]; then
    echo 'config=missing'
    return 0
  fi
  if [ ! -f "$config" ] || [ ! -r "$config" ]; then
    echo 'config=unreadable'
    return 0
  fi
  echo 'config=present'
  address=$(field serverURL)
  [ -n "$address" ] || address=$(field clusterFQDN)
  if [ -z "$address" ]; then
    if grep -q '"kubeconfigData"' -- "$config"; then echo 'address=in-kubeconfig'; else echo 'address=unset'; fi
    return 0
  fi
  case $address in
    https://* | http://*) ;;
    *) address=https://$address ;;
  esac
  address=${address%/}
  case ${address#*://} in
    '' | *[!A-Za-z0-9.:/_-]*)
      echo 'address=invalid'
      return 0
      ;;
  esac
  echo 'address=set'
  if ! command -v curl >/dev/null 2>&1; then
    echo 'curl=missing'
    return 0
  fi
  ask "$address/readyz"
}

# The certificate is the cluster's own and nothing secret is sent, so it is not verified.
ask() {
  status=$(timeout 12 curl -q -k -s -o /dev/null --max-time 10 --proto '=http,https' -w '%{http_code}' -- "$1")
  code=$?
  printf 'curl=%s\n' "$code"
  case $status in
    [0-9][0-9][0-9]) printf 'http=%s\n' "$status" ;;
    *) echo 'http=000' ;;
  esac
}

# The text of the last string field of that name; the file is one line for sed.
field() {
  tr '\n\r\t' '   ' <"$config" |
    sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p' |
    sed 's,\\/,/,g' | head -c 300
}

main "$@" </dev/null
