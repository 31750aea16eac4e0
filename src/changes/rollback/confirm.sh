# shellcheck shell=sh
# main RUN OPERATOR: what that run armed was seen to be healthy. 0, 3, 7 and 8 as disarm has them
main() {
  set -u
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  disarm "$1"
}

main "$@" </dev/null
