#!/bin/sh
# localdns.sh ROOT: the LocalDNS network, whose helper lies below ROOT. The kernel may lack dummy interfaces; a bridge has a name as well.
main() {
  set -eu
  helper=$1/libexec/unbounded-localdns-network unit=/etc/systemd/system/unbounded-localdns-network.service
  install -d -m 0755 "${helper%/*}"
  install -m 0755 /dev/null "$helper"
  cat >"$helper" <<'EOF'
#!/bin/sh
set -eu
nft -f - <<'NFT'
table ip unbounded_localdns {
  chain prerouting {
    type filter hook prerouting priority raw;
    ip daddr 169.254.10.10 notrack
  }
}
NFT
[ -e /sys/class/net/localdns ] || ip link add localdns type dummy 2>/dev/null || ip link add localdns type bridge
EOF
  cat >"$unit" <<EOF
[Unit]
Description=Network of the node's DNS cache
After=nftables-flush.service
Before=systemd-nspawn@kube1.service systemd-nspawn@kube2.service

[Service]
Type=oneshot
ExecStart=$helper

[Install]
WantedBy=multi-user.target
EOF
  systemctl daemon-reload
  systemctl enable --quiet unbounded-localdns-network.service
  systemctl start unbounded-localdns-network.service
}
main "$@" </dev/null
