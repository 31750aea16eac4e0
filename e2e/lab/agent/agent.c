/*
 * The commands of the stand-in agent. It says its version, it writes its own unit and links the host root at every start, it
 * stays, and it joins, moves its files and resets the host as a release of its kind does; upgrading fails as unknown.
 *
 * A program, not a script: a script's /proc/PID/exe is its interpreter, and drover looks at what the service really runs.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIES_AFTER_S 10

static void say_ready(void) {
  FILE *file = fopen(READY ".tmp", "w");
  if (file == NULL) return;
  fputs(VERSION "\n", file);
  fclose(file);
  rename(READY ".tmp", READY);
}

/*
 * The gate is shut: no work, and after a while an end that makes systemd start the daemon again. Longer than the start limit's
 * interval divided by its burst, so that holding never uses it up (domain.md 6.5).
 */
static int hold(const sigset_t *stop, const char *why) {
  char wanted[16];
  read_file(GATE_S, wanted, sizeof wanted);
  struct timespec gate = {.tv_sec = atoi(wanted) > 0 ? atoi(wanted) : 120};
  say("not taking work until the daemon is restarted: %s", why);
  unlink(READY);
  if (sigtimedwait(stop, NULL, &gate) >= 0) return 0;
  fprintf(stderr, "Command execution failed: not taking work until the daemon is restarted: %s\n", why);
  return 1;
}

/* Until it is told to stop, or the root is another one than when it started. */
static int work(const sigset_t *stop) {
  struct timespec second = {.tv_sec = 1};
  const char *started_with = root();
  while (sigtimedwait(stop, NULL, &second) < 0)
    if (MOVES && (root() != started_with || is_moving()))
      return hold(stop, "its root has changed since it was started");
  return 0; /* the real one, too, exits 0 when told to stop */
}

static int run_agent(void) {
  sigset_t stop;
  struct timespec limit = {.tv_sec = DIES_AFTER_S};
  unlink(READY);
  if (BEHAVIOUR == EXITS_42) {
    say("cannot reach the cluster");
    return 42;
  }
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  sigprocmask(SIG_BLOCK, &stop, NULL); /* before anything else, so that a stop in the first moment is not lost */

  if (BEHAVIOUR == HANGS) {
    say("waiting for a lock that nobody frees");
    sigwaitinfo(&stop, NULL);
    return 0;
  }
  if (!KNOWS_HOST_ROOT && is_directory(HOST_ROOT) && !is_there(LEGACY SLOTS "current") && KNOWS_SLOTS) {
    say(LEGACY SLOTS "current: no such file or directory");
    return 1;
  }
  if (refusal() != NULL) {
    fprintf(stderr, "Command execution failed: %s\n", refusal());
    return 1;
  }
  if (KNOWS_HOST_ROOT) link_host_root();
  /* While files are being moved, no unit names the copy before the copy has been run. */
  int written = MOVES && is_moving() ? 0 : write_agent_unit(is_container_variant());
  if (written < 0) perror("aks-flex-node: " UNITS AGENT);
  if (written > 0) run("systemctl", "daemon-reload", NULL);
  if (KNOWS_HOST_ROOT && is_linked()) record_itself();
  const char *held_up = KNOWS_HOST_ROOT ? consider_move() : NULL;
  if (held_up != NULL) return hold(&stop, held_up);
  say("%s", written > 0 ? "rewrote its unit, running" : "running");
  say_ready();
  if (BEHAVIOUR == DIES) {
    if (sigtimedwait(&stop, NULL, &limit) >= 0) return 0;
    say("out of memory");
    return 1;
  }
  return work(&stop);
}

static const char *config_of(int argc, char **argv) {
  for (int i = 2; i < argc; i++) {
    if (strncmp(argv[i], "--config=", 9) == 0) return argv[i] + 9;
    if (strcmp(argv[i], "--config") == 0 && i + 1 < argc) return argv[i + 1];
  }
  return NULL;
}

static int write_private(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return -1;
  int bad = dprintf(file, "%s", text) < 0;
  bad |= fchmod(file, 0600) != 0;
  return close(file) != 0 || bad ? -1 : 0;
}

/* The seed that a bootstrap script left becomes the first slot, and the units come about: drover writes both before it joins. */
static int install_itself(void) {
  char path[256], target[256], unfinished[300];
  if (has_layout(root())) return -1; /* somebody else's */
  snprintf(path, sizeof path, "%s" LIBRARY, root());
  if (run("mkdir", "-p", "-m", "0755", path, NULL) != 0) return -1;
  snprintf(path, sizeof path, "%s" SLOTS "blue", root());
  if (copy_file(itself(), path) != 0) return -1;
  snprintf(target, sizeof target, "%s" SLOTS "last-good", root());
  if (symlink(path, target) != 0) return -1;
  snprintf(target, sizeof target, "%s" SLOTS "current", root());
  if (symlink(path, target) != 0) return -1;
  snprintf(path, sizeof path, "%s" BINARY, root());
  snprintf(unfinished, sizeof unfinished, "%s.tmp", path);
  if (symlink(target, unfinished) != 0 || rename(unfinished, path) != 0) return -1;
  if (install_helper() != 0 || write_recovery() < 0 || write_agent_unit(0) < 0) return -1;
  return run("systemctl", "daemon-reload", NULL);
}

/* What a join leaves on the host, without a cluster to join. */
static int join(int argc, char **argv) {
  char hex[65];
  const char *config = config_of(argc, argv);
  if (config == NULL) {
    fprintf(stderr, "Error: required flag(s) \"config\" not set\n");
    return 1;
  }
  if (access(config, R_OK) != 0) {
    fprintf(stderr, "Command execution failed: failed to load config: %s: %s\n", config, strerror(errno));
    return 1;
  }
  if (write_private(STATE, "{\n  \"appliedSettingsVersion\": \"1\",\n  \"appliedKubernetesVersion\": \"1.33.3\",\n"
                           "  \"activeMachine\": \"kube1\"\n}\n") != 0 ||
      digest_of(STATE, hex) != 0 || write_private(STATE ".sha256", hex) != 0) {
    fprintf(stderr, "Command execution failed: " STATE ": %s\n", strerror(errno));
    return 1;
  }
  if (!is_there(UNITS AGENT) && KNOWS_SLOTS && runs_from(root()) && install_itself() != 0) {
    fprintf(stderr, "Command execution failed: cannot install itself below %s: %s\n", root(), strerror(errno));
    return 1;
  }
  if (is_there(UNITS AGENT) && (run("systemctl", "enable", "--quiet", AGENT, NULL) != 0 ||
                                run("systemctl", "start", "--quiet", AGENT, NULL) != 0)) {
    fprintf(stderr, "Command execution failed: " AGENT " does not start\n");
    return 1;
  }
  puts("AKS Flex Node agent service started successfully.");
  return 0;
}

static int preflight(int argc, char **argv) {
  int json = 0;
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "--output=json") == 0) json = 1;
    if (strcmp(argv[i], "--output") == 0 && i + 1 < argc) json = strcmp(argv[i + 1], "json") == 0;
  }
  if (config_of(argc, argv) == NULL) {
    fprintf(stderr, "Error: required flag(s) \"config\" not set\n");
    return 1;
  }
  if (PREFLIGHT == PREFLIGHT_SILENT) {
    fprintf(stderr, "Command execution failed: preflight failed to resolve goal state\n");
    return 1;
  }
  int fails = PREFLIGHT == PREFLIGHT_FAILS;
  const char *severity = fails ? "error" : "ok";
  const char *target = fails ? "machines.target is masked; unmask it before bootstrap" : "machines.target is enabled";
  if (json)
    printf("{\n"
           "  \"status\": \"%s\",\n"
           "  \"checks\": [\n"
           "    {\"name\": \"is-privileged-user\", \"target\": \"host user\", \"severity\": \"ok\", \"message\": \"preflight is running as root\", \"ignored\": false},\n"
           "    {\"name\": \"host-packages\", \"target\": \"host packages\", \"severity\": \"ok\", \"message\": \"required host packages are installed\", \"ignored\": false},\n"
           "    {\"name\": \"machines-target\", \"target\": \"machines.target\", \"severity\": \"%s\", \"message\": \"%s\", \"ignored\": false}\n"
           "  ],\n"
           "  \"summary\": {\"ok\": %d, \"warnings\": 0, \"errors\": %d}\n"
           "}\n",
           fails ? "failed" : "ok", severity, target, fails ? 2 : 3, fails);
  else
    printf("[preflight] Running AKS Flex Node preflight checks\n"
           "\t[OK is-privileged-user]: preflight is running as root (target: host user)\n"
           "\t[OK host-packages]: required host packages are installed (target: host packages)\n"
           "%s[%s machines-target]: %s (target: machines.target)\n",
           fails ? "[preflight] Some fatal errors occurred:\n" : "\t", fails ? "ERROR" : "OK", target);
  if (fails) fprintf(stderr, "Command execution failed: preflight checks failed\n");
  return fails;
}

/* The worker's hooks. What a hook writes is what its own binary knows: an old helper leads them back to /usr/local. */
static int nspawn_lifecycle(const char *step, const char *machine) {
  char unit[64];
  if (strcmp(machine, "kube1") != 0 && strcmp(machine, "kube2") != 0) {
    fprintf(stderr, "Error: no such machine: %s\n", machine);
    return 1;
  }
  if (strcmp(step, "post-start") == 0) return 0;
  if (strcmp(step, "pre-start") == 0) {
    /* The worker starts all the same where the root is not usable. */
    if (refusal() != NULL) return say("keeping the configuration of %s: %s", machine, refusal()), 0;
    if (KNOWS_HOST_ROOT) link_host_root();
    int written = rewrite_hooks();
    if (written > 0) run("systemctl", "daemon-reload", NULL);
    return written < 0;
  }
  if (strcmp(step, "reconcile") == 0) {
    snprintf(unit, sizeof unit, "systemd-nspawn@%s.service", machine);
    return run("systemctl", "restart", unit, NULL) != 0;
  }
  fprintf(stderr, "Error: no such step: %s\n", step);
  return 1;
}

static int print_version(void) {
  while (BEHAVIOUR == HANGS_IN_VERSION) pause();
  if (is_there(COPY_UNFIT) && runs_from(HOST_ROOT)) return 126;
  puts("AKS Flex Node Agent\nVersion: " VERSION "\nGit Commit: 0000000000000000000000000000000000000000\n"
       "Build Time: 2026-09-21T00:00:00Z");
  return 0;
}

int main(int argc, char **argv) {
  const char *command = argc > 1 ? argv[1] : "";
  if (strcmp(command, "version") == 0) return print_version();
  if (strcmp(command, "agent") == 0 || strcmp(command, "daemon") == 0) return run_agent();
  if (strcmp(command, "preflight") == 0) return preflight(argc, argv);
  if (strcmp(command, "start") == 0 || strcmp(command, "bootstrap") == 0) return join(argc, argv);
  if (strcmp(command, "reset") == 0 || strcmp(command, "unbootstrap") == 0) return reset();
  if (strcmp(command, "nspawn-lifecycle") == 0) return nspawn_lifecycle(argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "");
  if (strcmp(command, "recover-agent-upgrade") == 0 && !is_there(SIGNAL)) {
    if (KNOWS_HOST_ROOT && refusal() == NULL) link_host_root();
    return 0;
  }
  /* Not the product's: the lab writes the first units with it, so that their text is in one place only. */
  if (strcmp(command, "lab-write-unit") == 0)
    return write_recovery() < 0 || write_agent_unit(argc > 2 && strcmp(argv[2], "container") == 0) < 0;
  if (strcmp(command, "lab-write-hooks") == 0 && argc > 2) return write_hooks(argv[2]) < 0;
  fprintf(stderr, "Error: unknown command \"%s\" for \"aks-flex-node\"\n", command);
  return 1;
}
