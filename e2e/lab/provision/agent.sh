#!/bin/sh
# agent.sh BINARY LAYOUT VARIANT OFFLINE NODE: put an installed, joined agent together, as a bootstrap leaves it, and start it.
# LAYOUT is where and how it lies: legacy (slots under /usr/local), linked (the same, and the host
# root is a link there), moved (slots under the host root), plain (a binary in /usr/local/bin and nothing else). VARIANT is host or
# container; OFFLINE is the source of offline artifacts, or empty.
main() {
  set -eu
  binary=$1 layout=$2 variant=$3 offline=$4 node=$5
  case $layout in
    legacy | linked | plain) root=/usr/local ;;
    moved) root=/opt/unbounded/agent ;;
    *) echo "no such layout: $layout" >&2; exit 2 ;;
  esac
  lib=$root/lib/aks-flex-node
  if [ "$layout" = plain ]; then install -D -m 0755 "$binary" /usr/local/bin/aks-flex-node; else slots; fi
  directories
  config
  state
  if [ "$variant" = container ]; then containerd; fi
  "$root/bin/aks-flex-node" lab-write-unit "$variant"
  systemctl daemon-reload
  systemctl enable --quiet aks-flex-node-agent.service
  systemctl start aks-flex-node-agent.service
}

slots() {
  if [ "$layout" != legacy ]; then install -d -m 0755 /opt/unbounded; fi
  if [ "$layout" = linked ]; then ln -s /usr/local /opt/unbounded/agent; fi
  install -d -m 0755 "$root" "$root/bin" "$root/lib"
  # Releases up to v0.2.0 made this one 0750.
  if [ "$root" = /usr/local ]; then install -d -m 0750 "$lib"; else install -d -m 0755 "$lib" "$root/libexec"; fi
  install -m 0755 "$binary" "$lib/aks-flex-node-blue"
  ln -s "$lib/aks-flex-node-blue" "$lib/aks-flex-node-current"
  ln -s "$lib/aks-flex-node-blue" "$lib/aks-flex-node-last-good"
  ln -s "$lib/aks-flex-node-current" "$root/bin/aks-flex-node"
  install -m 0755 "$binary" "$root/bin/unbounded-agent-nspawn-lifecycle"
}

directories() {
  install -d -m 0755 /etc/aks-flex-node /var/lib/aks-flex-node /var/log/aks-flex-node
  install -m 0644 /dev/null /var/log/aks-flex-node/aks-flex-node.log
}

# Made-up values, all of them: no API server listens on localhost, and the token opens nothing.
config() {
  bootstrap=
  if [ -n "$offline" ]; then bootstrap='"bootstrap": {"offlineArtifacts": {"source": "'$offline'"}},'; fi
  install -m 0600 /dev/null /etc/aks-flex-node/config.json
  cat >/etc/aks-flex-node/config.json <<EOF
{
  "azure": {
    "subscriptionId": "00000000-0000-0000-0000-000000000000",
    "tenantId": "00000000-0000-0000-0000-000000000001",
    "cloud": "AzurePublicCloud",
    "targetCluster": {
      "resourceId": "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/lab/providers/Microsoft.ContainerService/managedClusters/lab",
      "location": "westeurope"
    },
    "targetAgentPoolName": "aksflexnodes",
    "bootstrapToken": {"token": "labfak.thisisnotasecret"}
  },
  "agent": {"logLevel": "info", "logDir": "/var/log/aks-flex-node", "nodeName": "$node"},
  "components": {"kubernetes": "1.33.3", "containerd": "2.1.4", "runc": "1.3.0"},
  $bootstrap
  "node": {
    "maxPods": 110,
    "kubelet": {"clusterFQDN": "localhost", "caCertData": "bm90IGEgY2VydGlmaWNhdGU="}
  }
}
EOF
}

state() {
  file=/etc/aks-flex-node/daemon-state.json
  install -m 0600 /dev/null "$file"
  install -m 0600 /dev/null "$file.sha256"
  printf '{\n  "appliedSettingsVersion": "1",\n  "appliedKubernetesVersion": "1.33.3",\n  "activeMachine": "kube1"\n}\n' >"$file"
  sha256sum "$file" | cut -d' ' -f1 >"$file.sha256"
}

# A containerd of the lab's. It fails to start while /etc/drover-lab/containerd-fails exists.
containerd() {
  cat >/etc/systemd/system/containerd.service <<'EOF'
[Unit]
Description=containerd container runtime (drover lab fixture)

[Service]
Type=exec
ExecStartPre=/usr/bin/test ! -e /etc/drover-lab/containerd-fails
ExecStart=/usr/bin/sleep infinity

[Install]
WantedBy=multi-user.target
EOF
  systemctl daemon-reload
  systemctl enable --quiet containerd.service
}
main "$@" </dev/null
