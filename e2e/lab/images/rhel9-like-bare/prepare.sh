#!/bin/sh
# Run once at image build: move systemd-container from dpkg into an RPM of a local repository, and let rpm know what else is there.
main() {
  set -eu
  repository=/var/lib/drover-lab/repository
  mkdir -p "$repository" /etc/rpm /etc/yum.repos.d
  # Debian's rpm keeps its database in the caller's home, which is another one under sudo.
  echo '%_dbpath /var/lib/rpm' >/etc/rpm/macros
  rpm --initdb

  dpkg -L systemd-container >/root/files
  sh /root/rpm.sh systemd-container 252 /root/files "$repository"
  for name in curl nftables util-linux; do sh /root/rpm.sh "$name" 1 /dev/null /root/installed; done
  sh /root/rpm.sh bash 5 /dev/null /root/installed /bin/sh
  sh /root/rpm.sh rocky-release 9.8 /dev/null /root/installed 'system-release = 9.8'   # tells dnf the release
  rpm --force-debian -i --nodeps /root/installed/*.rpm
  createrepo_c --quiet "$repository"
  printf '[lab]\nname=drover lab\nbaseurl=file://%s\nenabled=1\ngpgcheck=0\n' "$repository" >/etc/yum.repos.d/lab.repo

  DEBIAN_FRONTEND=noninteractive dpkg --purge --force-depends systemd-container
  rm -rf /etc/systemd/system/multi-user.target.wants/machines.target /root/installed /root/files /root/rpmbuild
}
main "$@" </dev/null
