/* The units that the agent writes, each with the root that this release takes for the agent's. */
#define _GNU_SOURCE
#include "agent.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const machines[] = {"kube1", "kube2"};

int is_container_variant(void) {
  char found[4096];
  read_file(UNITS AGENT, found, sizeof found);
  return strstr(found, "Requires=containerd.service") != NULL;
}

int write_agent_unit(int container) {
  char text[4096];
  snprintf(text, sizeof text,
           "[Unit]\n"
           "Description=AKS Flex Node Agent\n"
           "After=network-online.target systemd-udev-settle.service%s\n"
           "Wants=network-online.target systemd-udev-settle.service%s\n"
           "%s%s"
           "\n"
           "[Service]\n"
           "Type=simple\n"
           "RemainAfterExit=no\n"
           "ExecStart=%s%s agent --config /etc/aks-flex-node/config.json\n"
           "TimeoutStartSec=300\n"
           "TimeoutStopSec=60\n"
           "Restart=on-failure\n"
           "RestartSec=30\n"
           "StandardOutput=journal\n"
           "StandardError=journal\n"
           "\n"
           "[Install]\n"
           "WantedBy=multi-user.target\n",
           container ? " containerd.service" : "", KNOWS_HOST_ROOT ? " machines.target" : "",
           container ? "Requires=containerd.service\n" : "",
           KNOWS_SLOTS ? "OnFailure=" RECOVERY "\n"
                         "StartLimitIntervalSec=300\n"
                         "StartLimitBurst=5\n"
                       : "",
           root(), KNOWS_SLOTS ? SLOTS "current" : BINARY);
  return write_file(UNITS AGENT, text, 0644);
}

/* The script first: the unit never names one that is not there. Only a pending upgrade makes it change anything. */
int write_recovery(void) {
  char text[2048], path[256];
  if (!KNOWS_SLOTS) return 0;
  snprintf(path, sizeof path, "%s" LIBRARY "/aks-flex-node-recovery.sh", root());
  snprintf(text, sizeof text,
           "#!/bin/sh\n"
           "# Stand-in for the agent's recovery script. A failed step does not stop the next.\n"
           "main() {\n"
           "  last_good=%s" SLOTS "last-good failed=0\n"
           "  [ -e " SIGNAL " ] || exit 0\n"
           "  [ -x \"$last_good\" ] || exit 1\n"
           "  \"$last_good\" recover-agent-upgrade --message 'agent service failed' || failed=1\n"
           "  systemctl reset-failed " AGENT " || failed=1\n"
           "  systemctl --no-block restart " AGENT " || failed=1\n"
           "  exit \"$failed\"\n"
           "}\n"
           "main \"$@\" </dev/null\n",
           root());
  int script = write_file(path, text, 0750);
  snprintf(text, sizeof text,
           "[Unit]\n"
           "Description=Recover AKS Flex Node Agent to last-known-good binary\n"
           "\n"
           "[Service]\n"
           "Type=oneshot\n"
           "ExecStart=%s\n",
           path);
  int unit = write_file(UNITS RECOVERY, text, 0644);
  return script < 0 || unit < 0 ? -1 : script || unit;
}

int write_hooks(const char *machine) {
  char text[4096], path[256];
  snprintf(path, sizeof path, UNITS "unbounded-agent-regenerate-config@%s.service", machine);
  snprintf(text, sizeof text,
           "[Unit]\n"
           "Description=Regenerate the configuration of machine %1$s\n"
           "Wants=systemd-udev-settle.service\n"
           "After=systemd-udev-settle.service\n"
           "\n"
           "[Service]\n"
           "Type=oneshot\n"
           "ExecStart=%2$s" HELPER " nspawn-lifecycle pre-start %1$s\n",
           machine, root());
  int unit = write_file(path, text, 0644);
  snprintf(path, sizeof path, UNITS "systemd-nspawn@%s.service.d", machine);
  mkdir(path, 0755);
  strncat(path, "/override.conf", sizeof path - strlen(path) - 1);
  snprintf(text, sizeof text,
           "[Unit]\n"
           "Requires=unbounded-agent-regenerate-config@%1$s.service\n"
           "After=unbounded-agent-regenerate-config@%1$s.service\n"
           "StartLimitIntervalSec=0\n"
           "\n"
           "[Service]\n"
           "Restart=on-failure\n"
           "RestartSec=10s\n"
           "ExecStartPre=-/usr/bin/machinectl terminate %1$s\n"
           "ExecStartPre=/usr/bin/mkdir -p /run/bpffs/%1$s\n"
           "ExecStartPre=/bin/sh -c 'mountpoint -q /run/bpffs/%1$s || mount -t bpf bpf /run/bpffs/%1$s'\n"
           "ExecStartPost=%2$s" HELPER " nspawn-lifecycle post-start %1$s\n"
           "Environment=SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1\n"
           "Environment=SYSTEMD_NSPAWN_API_VFS_WRITABLE=network\n",
           machine, root());
  int override = write_file(path, text, 0644);
  return unit < 0 || override < 0 ? -1 : unit || override;
}

/* Of the machines that have hooks. */
int rewrite_hooks(void) {
  int written = 0;
  for (int i = 0; i < 2; i++) {
    char path[256];
    snprintf(path, sizeof path, UNITS "unbounded-agent-regenerate-config@%s.service", machines[i]);
    if (!is_there(path)) continue;
    int wrote = write_hooks(machines[i]);
    if (wrote < 0) return -1;
    written |= wrote;
  }
  return written;
}

/* Exactly the old path becomes the new one; every other byte is kept. */
int rewrite_localdns(void) {
  char found[8192], text[9000];
  const char *there = strcmp(root(), LEGACY) == 0 ? HOST_ROOT LOCALDNS : LEGACY LOCALDNS;
  if (!is_there(UNITS LOCALDNS_UNIT)) return 0;
  read_file(UNITS LOCALDNS_UNIT, found, sizeof found);
  char *at = strstr(found, there);
  if (at == NULL) return 0;
  snprintf(text, sizeof text, "%.*s%s" LOCALDNS "%s", (int)(at - found), found, root(), at + strlen(there));
  return write_file(UNITS LOCALDNS_UNIT, text, 0644);
}

int install_helper(void) {
  char path[256];
  snprintf(path, sizeof path, "%s" HELPER, root());
  return copy_file(itself(), path) != 0 || chmod(path, 0755) != 0 ? -1 : 0;
}
