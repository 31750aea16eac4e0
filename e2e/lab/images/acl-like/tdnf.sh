#!/bin/sh
# Azure Container Linux ships tdnf although nothing can be installed: /usr is read-only and there is no rpm.
main() {
  echo 'Error(1525) : rpm transaction failed: /usr is read-only' >&2
  exit 1
}
main "$@"
