#!/bin/sh
# first-boot.sh: a host that Ignition provisioned, after its first boot. The real one removes its files in the end; here they stay,
# so that a story can see them go.
main() {
  set -eu
  folder=/etc/aks-flex-node/first-boot unit=/etc/systemd/system/aks-flex-node-bootstrap.service
  install -d -m 0755 /etc/aks-flex-node
  install -d -m 0700 "$folder"
  install -m 0700 /dev/null "$folder/bootstrap.sh"
  printf '#!/bin/bash\nexit 0\n' >"$folder/bootstrap.sh"
  install -m 0600 /dev/null "$folder/bootstrap.env"
  printf 'AKS_FLEX_NODE_AUTH="msi"\n' >"$folder/bootstrap.env"
  install -m 0600 /dev/null "$folder/base-config.json"
  printf '{}\n' >"$folder/base-config.json"
  cat >"$unit" <<EOF
[Unit]
Wants=network-online.target
After=network-online.target nss-lookup.target
ConditionPathExists=!/etc/systemd/system/aks-flex-node-agent.service
AssertPathExists=$folder/bootstrap.sh
StartLimitIntervalSec=0

[Service]
Type=oneshot
RemainAfterExit=yes
TimeoutStartSec=30min
Restart=on-failure
RestartSec=10s
Environment=AKS_FLEX_NODE_BASE_CONFIG_FILE=$folder/base-config.json
EnvironmentFile=$folder/bootstrap.env
ExecStart=/bin/bash $folder/bootstrap.sh

[Install]
WantedBy=multi-user.target
EOF
  systemctl daemon-reload
  systemctl enable --quiet --now aks-flex-node-bootstrap.service
}
main "$@" </dev/null
