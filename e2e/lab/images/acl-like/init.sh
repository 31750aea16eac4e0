#!/bin/sh
# PID 1 at first: make /usr read-only as the image's dm-verity does, before anything runs, then become systemd.
main() {
  mount --bind /usr /usr && mount -o remount,bind,ro /usr || echo 'lab: /usr could not be made read-only' >&2
  exec /sbin/init
}
main "$@"
