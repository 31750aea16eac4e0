# What every stand-in shares, on top of a Debian root file system made by mmdebstrap.
ARG ROOTFS
FROM ${ROOTFS}
COPY common/lab-hostkeys.service /etc/systemd/system/
COPY common/sshd.conf /etc/ssh/sshd_config.d/10-lab.conf
COPY common/prepare.sh /root/
RUN sh /root/prepare.sh && rm /root/prepare.sh
STOPSIGNAL SIGRTMIN+3
CMD ["/sbin/init"]
