#!/bin/sh
# Run once at image build, in every stand-in image: what belongs to one host alone must not be baked into the image.
main() {
  set -eu
  rm -f /etc/ssh/ssh_host_*
  : >/etc/machine-id                        # empty: each host makes its own at boot, and it is not a "first boot" that applies presets
  rm -f /etc/apt/sources.list               # hosts have no mirror, and the build machine's is nobody's business
  rm -rf /etc/apt/sources.list.d /var/lib/apt/lists
  mkdir -p /etc/apt/sources.list.d /var/lib/apt/lists
  install -d -m 0700 /root/.ssh
  systemctl enable lab-hostkeys.service ssh.service
  systemctl mask console-getty.service getty.target   # no terminal to offer
}
main "$@" </dev/null
