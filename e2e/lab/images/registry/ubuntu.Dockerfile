# The real distribution, for DROVER_LAB_REGISTRY_IMAGES=1 where a registry can be reached. NOT YET RUN: the lab was built without one.
FROM ubuntu:24.04
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    systemd systemd-sysv systemd-container dbus openssh-server sudo iproute2 procps curl nftables && apt-get clean
COPY common/lab-hostkeys.service /etc/systemd/system/
COPY common/sshd.conf /etc/ssh/sshd_config.d/10-lab.conf
# Ubuntu starts sshd by its socket; the stand-in has the service, so that the first connection finds it running.
RUN rm -f /etc/ssh/ssh_host_* && : >/etc/machine-id && install -d -m 0700 /root/.ssh && \
    systemctl disable ssh.socket && systemctl enable lab-hostkeys.service ssh.service machines.target
STOPSIGNAL SIGRTMIN+3
CMD ["/sbin/init"]
