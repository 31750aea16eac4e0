# shellcheck shell=sh
# main SECONDS: stays until the host goes down with it, or for that long
main() {
  # One by one, so that what kills only this shell leaves no sleep behind for long.
  left=$1
  while [ "$left" -gt 0 ]; do
    sleep 1
    left=$((left - 1))
  done
}

main "$@" </dev/null
