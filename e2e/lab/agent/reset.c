/* `reset`, in the order of domain.md 8.1. Without a lock, without moving anything; again on a host that was reset: nothing to do. */
#define _GNU_SOURCE
#include "agent.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int failures;

/* Looked at before: a read-only /usr answers EROFS even for what is not there. */
static void drop(const char *path) {
  if (!is_there(path) || unlink(path) == 0) return;
  perror(path);
  failures += 1;
}

static void drop_tree(const char *path) {
  if (is_there(path) && run("rm", "-rf", "--one-file-system", path, NULL) != 0) failures += 1;
}

/* Below every root this release knows. */
static void drop_below_roots(const char *name) {
  char path[256];
  if (KNOWS_HOST_ROOT && RESET != RESET_FORGETS_ROOTS) {
    snprintf(path, sizeof path, HOST_ROOT "%s", name);
    drop(path);
  }
  snprintf(path, sizeof path, LEGACY "%s", name);
  drop(path);
}

static void first_boot(void) {
  if (!is_there(UNITS "aks-flex-node-bootstrap.service")) return;
  run("systemctl", "disable", "--now", "--quiet", "aks-flex-node-bootstrap.service", NULL);
  drop(UNITS "aks-flex-node-bootstrap.service");
}

static void service(void) {
  if (is_there(UNITS AGENT)) {
    run("systemctl", "stop", AGENT, NULL);
    run("systemctl", "disable", "--quiet", AGENT, NULL);
  }
  drop(UNITS AGENT);
  drop(UNITS RECOVERY);
  drop_below_roots(LIBRARY "/aks-flex-node-recovery.sh");
  drop(SIGNAL);
  run("systemctl", "daemon-reload", NULL);
}

static void machine(const char *name) {
  char unit[128], path[256];
  snprintf(unit, sizeof unit, "systemd-nspawn@%s.service", name);
  snprintf(path, sizeof path, "/var/lib/machines/%s", name);
  run("systemctl", "disable", "--quiet", unit, NULL);
  if (run("systemctl", "stop", unit, NULL) != 0) failures += 1;
  run_quietly("machinectl", "terminate", name, NULL);
  if (is_there(path)) run_quietly("timeout", "20", "machinectl", "remove", name, NULL);
  drop_tree(path);
  snprintf(path, sizeof path, "/etc/systemd/nspawn/%s.nspawn", name);
  drop(path);
  snprintf(path, sizeof path, UNITS "systemd-nspawn@%s.service.d", name);
  drop_tree(path);
  snprintf(path, sizeof path, UNITS "unbounded-agent-regenerate-config@%s.service", name);
  drop(path);
  snprintf(path, sizeof path, "/etc/unbounded/agent/%s-nspawn-lifecycle.json", name);
  drop(path);
  snprintf(path, sizeof path, "/run/bpffs/%s", name);
  if (is_there(path)) run_quietly("umount", path, NULL), rmdir(path);
}

static int is_ours(const char *interface) {
  static const char *const ours[] = {"geneve0", "vxlan0", "ipip0", "unbounded0", "cbr0"};
  for (int i = 0; i < 5; i++)
    if (strcmp(interface, ours[i]) == 0) return 1;
  return strncmp(interface, "wg", 2) == 0;
}

static void network(void) {
  if (is_there(UNITS LOCALDNS_UNIT)) run("systemctl", "disable", "--now", "--quiet", LOCALDNS_UNIT, NULL);
  drop(UNITS LOCALDNS_UNIT);
  run_quietly("nft", "delete", "table", "ip", "unbounded_localdns", NULL);
  run_quietly("ip", "link", "delete", "localdns", NULL);
  drop_below_roots(LOCALDNS);
  DIR *interfaces = opendir("/sys/class/net");
  if (interfaces == NULL) return;
  for (struct dirent *entry; (entry = readdir(interfaces)) != NULL;)
    if (is_ours(entry->d_name)) run("ip", "link", "delete", entry->d_name, NULL);
  closedir(interfaces);
}

int reset(void) {
  if (geteuid() != 0 || !is_there("/run/systemd/system")) {
    fprintf(stderr, "Command execution failed: reset needs root and systemd\n");
    return 1;
  }
  first_boot();
  service();
  if (RESET == RESET_FAILS) {
    fprintf(stderr, "Command execution failed: kube1: cannot inspect the machine\n");
    return 1;
  }
  machine("kube1");
  machine("kube2");
  network();
  drop_below_roots(HELPER);
  run("systemctl", "daemon-reload", NULL);
  drop_tree(CONFIG);
  drop_tree("/var/log/aks-flex-node");
  if (failures == 0) return 0;
  fprintf(stderr, "Command execution failed: reset left %d things behind\n", failures);
  return 1;
}
