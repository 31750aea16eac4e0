# The real distribution, for DROVER_LAB_REGISTRY_IMAGES=1 where a registry can be reached. NOT YET RUN: the lab was built without one.
FROM rockylinux/rockylinux:9-ubi-init
RUN dnf -y install systemd-container openssh-server sudo iproute procps-ng nftables util-linux && dnf clean all
COPY common/lab-hostkeys.service /etc/systemd/system/
COPY common/sshd.conf /etc/ssh/sshd_config.d/10-lab.conf
# machines.target is disabled by Rocky's own preset: nothing to do for it.
RUN rm -f /etc/ssh/ssh_host_* && : >/etc/machine-id && install -d -m 0700 /root/.ssh && systemctl enable lab-hostkeys.service sshd.service
STOPSIGNAL SIGRTMIN+3
CMD ["/sbin/init"]
