#!/bin/sh
# Run once at image build: no package manager, a systemctl that denies reset-failed, and the user core.
main() {
  set -eu
  useradd --create-home --shell /bin/bash core
  install -d -m 0700 -o core -g core /home/core/.ssh
  echo 'core ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/core
  chmod 0440 /etc/sudoers.d/core

  mkdir -p /usr/lib/drover-lab
  mv /usr/bin/systemctl /usr/lib/drover-lab/systemctl
  mv /root/systemctl.sh /usr/bin/systemctl
  mv /root/init.sh /usr/lib/drover-lab/init
  mv /root/tdnf.sh /usr/bin/tdnf
  chmod 0755 /usr/bin/systemctl /usr/lib/drover-lab/init /usr/bin/tdnf
  # These are links to systemctl, which looks at the name it is called by; a script cannot pass that name on.
  for name in halt poweroff reboot shutdown runlevel telinit; do
    if [ -L "/usr/sbin/$name" ]; then ln -sfn ../lib/drover-lab/systemctl "/usr/sbin/$name"; fi
  done
  /usr/lib/drover-lab/systemctl enable machines.target

  rm -rf /usr/bin/apt /usr/bin/apt-get /usr/bin/apt-cache /usr/bin/apt-config /usr/bin/apt-mark /usr/lib/apt /etc/apt /var/lib/apt /var/cache/apt
  rm -rf /usr/bin/dpkg /usr/bin/dpkg-query /usr/bin/dpkg-deb /usr/bin/dpkg-split /usr/bin/dpkg-divert /usr/lib/dpkg /etc/dpkg /var/lib/dpkg
  mkdir -p /var/lib/rpm
}
main "$@" </dev/null
