#!/bin/sh
# worker.sh KIND MACHINE BINARY HOOKS: the worker machine, enabled and running. KIND is real (a booted nspawn machine) or sleep (its
# unit, with the process replaced). BINARY is the host's agent, which the worker carries too, or empty. HOOKS is
# the root below which the helper lies that its hooks run, or empty for a worker without hooks.
main() {
  set -eu
  kind=$1 machine=$2 binary=$3 hooks=$4
  case $machine in kube1 | kube2) ;; *) echo "no such machine: $machine" >&2; exit 2 ;; esac
  rootfs=/var/lib/machines/$machine dropins=/etc/systemd/system/systemd-nspawn@$machine.service.d
  install -d -m 0700 /var/lib/machines
  install -d -m 0755 "$rootfs" "$dropins" /etc/systemd/nspawn
  settings
  case $kind in
    real) fill ;;
    sleep) replace_process ;;
    *) echo "no such kind: $kind" >&2; exit 2 ;;
  esac
  if [ -n "$binary" ]; then install -D -m 0755 "$binary" "$rootfs/usr/local/bin/aks-flex-node"; fi
  if [ -n "$hooks" ]; then hooks; fi
  systemctl daemon-reload
  systemctl enable --quiet "systemd-nspawn@$machine.service"    # a link in machines.target.wants; it does not enable the target
  systemctl start "systemd-nspawn@$machine.service"
}

settings() {
  cat >"/etc/systemd/nspawn/$machine.nspawn" <<'EOF'
[Exec]
Boot=yes
PrivateUsers=no

[Network]
VirtualEthernet=no
EOF
  cat >"$dropins/override.conf" <<'EOF'
[Unit]
StartLimitIntervalSec=0

[Service]
Restart=on-failure
RestartSec=10s
Environment=SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
Environment=SYSTEMD_NSPAWN_API_VFS_WRITABLE=network
EOF
}

# The agent writes them, with the root that it takes for its own; where that is to be, the helper lies already.
hooks() {
  install -D -m 0755 "$binary" "$hooks/bin/unbounded-agent-nspawn-lifecycle"
  "$hooks/bin/unbounded-agent-nspawn-lifecycle" lab-write-hooks "$machine"
}

# The host's own programs serve as the worker's: enough to boot systemd in it. /etc is left empty, so no service of the host's is
# enabled there; above all no sshd, which would fight for port 22 on the shared network.
fill() {
  tar -C / -cf - --one-file-system --exclude=usr/local --exclude=usr/share usr bin lib lib64 sbin |
    tar -C "$rootfs" -xf -
  install -d -m 0755 "$rootfs/etc" "$rootfs/var" "$rootfs/usr/local/bin" "$rootfs/usr/share/dbus-1"
  cp -a /usr/share/dbus-1/. "$rootfs/usr/share/dbus-1/"
  : >"$rootfs/etc/machine-id"
}

replace_process() {
  # The template's watchdog would end a process that never reports, after three minutes.
  cat >"$dropins/50-lab-sleep.conf" <<'EOF'
[Service]
Type=simple
WatchdogSec=0
ExecStart=
ExecStart=/usr/bin/sleep infinity
EOF
}
main "$@" </dev/null
