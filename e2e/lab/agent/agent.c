/*
 * A stand-in for the AKS Flex Node agent. It is not the product; it is as much of it as drover must live beside:
 * it says its version, it writes its own unit and links the host root at every start, it stays, and it joins.
 *
 * A program, not a script: a script's /proc/PID/exe is its interpreter, and drover looks at what the service really runs.
 *
 * A release is this file with other macros: build.ts says which. The move of the host root is only announced, under the
 * lock it would be made under; upgrading, recovering from one, and resetting fail as unknown.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HEALTHY, EXITS_42, DIES, HANGS, HANGS_IN_VERSION };
enum { PREFLIGHT_OK, PREFLIGHT_FAILS, PREFLIGHT_SILENT };

#ifndef VERSION
#error "say which release: -DVERSION='\"v0.3.0\"'"
#endif
#ifndef BEHAVIOUR
#define BEHAVIOUR HEALTHY
#endif
#ifndef PREFLIGHT
#define PREFLIGHT PREFLIGHT_OK
#endif
/* v0.2.0 does not: it knows /usr/local only, and does not want machines.target either. */
#ifndef KNOWS_HOST_ROOT
#define KNOWS_HOST_ROOT 1
#endif
/* v0.1.x does not: its unit runs the plain binary and has no recovery. */
#ifndef KNOWS_SLOTS
#define KNOWS_SLOTS 1
#endif
#define DIES_AFTER_S 10

#define UNIT "/etc/systemd/system/aks-flex-node-agent.service"
#define HOST_ROOT "/opt/unbounded/agent"
#define LEGACY "/usr/local"
#define SLOTS "/lib/aks-flex-node/aks-flex-node-"
#define CONFIG "/etc/aks-flex-node"
#define KNOWN_AGENTS CONFIG "/host-root-agents"
#define STATE CONFIG "/daemon-state.json"
#define SIGNAL CONFIG "/agent-upgrade-signal.json"
#define LOCK "/run/aks-flex-node-agent-upgrade.lock"
/* No such file in the product: a story's own check of an agent's health looks for it. */
#define READY "/run/lab-agent-ready"

static int is_directory(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int is_there(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0;
}

/* Where the installation lies: a real directory at HOST_ROOT is one, a link there leads to /usr/local. */
static const char *root(void) { return KNOWS_HOST_ROOT && is_directory(HOST_ROOT) ? HOST_ROOT : LEGACY; }

static void compose_unit(char *text, size_t size, int container) {
  snprintf(text, size,
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
           KNOWS_SLOTS ? "OnFailure=aks-flex-node-agent-recovery.service\n"
                         "StartLimitIntervalSec=300\n"
                         "StartLimitBurst=5\n"
                       : "",
           root(), KNOWS_SLOTS ? SLOTS "current" : "/bin/aks-flex-node");
}

static void read_file(const char *path, char *text, size_t size) {
  size_t length = 0;
  FILE *file = fopen(path, "r");
  if (file != NULL) {
    length = fread(text, 1, size - 1, file);
    fclose(file);
  }
  text[length] = '\0';
}

/* Write the unit if it differs. Returns 1 if written, 0 if it was right, -1 if it cannot be written. */
static int write_unit(int container) {
  char wanted[4096], found[4096];
  compose_unit(wanted, sizeof wanted, container);
  read_file(UNIT, found, sizeof found);
  if (strcmp(wanted, found) == 0) return 0;
  FILE *file = fopen(UNIT ".tmp", "w");
  if (file == NULL) return -1;
  int bad = fputs(wanted, file) < 0;
  bad |= fchmod(fileno(file), 0644) != 0;
  bad |= fclose(file) != 0;
  if (bad || rename(UNIT ".tmp", UNIT) != 0) return -1;
  return 1;
}

static int systemctl(const char *verb, const char *option, const char *unit) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    execlp("systemctl", "systemctl", verb, option, unit, (char *)NULL);
    _exit(127);
  }
  if (child > 0) waitpid(child, &status, 0);
  return status;
}

/* Links followed; 0 and the digest, or -1. The paths are all this file's own. */
static int digest_of(const char *path, char hex[65]) {
  char command[512];
  hex[0] = '\0';
  snprintf(command, sizeof command, "sha256sum <'%s' 2>/dev/null", path);
  FILE *out = popen(command, "r");
  if (out == NULL) return -1;
  int read = fscanf(out, "%64s", hex);
  pclose(out);
  return read == 1 && strlen(hex) == 64 ? 0 : -1;
}

static int knows(const char *path) {
  char known[65536], hex[65];
  read_file(KNOWN_AGENTS, known, sizeof known);
  return digest_of(path, hex) == 0 && strstr(known, hex) != NULL;
}

/* LEGACY becomes LINKED (domain.md 6.2): nothing moves, and the host can still go back. */
static void link_host_root(void) {
  if (is_there(HOST_ROOT) || !is_there(LEGACY SLOTS "current")) return;
  if (mkdir("/opt/unbounded", 0755) == 0) chmod("/opt/unbounded", 0755);
  if (symlink(LEGACY, HOST_ROOT) != 0) perror("aks-flex-node: " HOST_ROOT);
}

static int is_linked(void) {
  char target[64];
  ssize_t length = readlink(HOST_ROOT, target, sizeof target);
  return length == (ssize_t)strlen(LEGACY) && memcmp(target, LEGACY, length) == 0 && is_there(LEGACY SLOTS "current");
}

static void record_itself(void) {
  char self[512], hex[65];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return;
  self[length] = '\0';
  if (knows(self) || digest_of(self, hex) != 0) return;
  int file = open(KNOWN_AGENTS, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0) return;
  dprintf(file, "%s\n", hex);
  close(file);
}

/* As far as the real one goes before it moves anything: is it time, and is the lock free? */
static void consider_move(void) {
  if (is_there(SIGNAL) || !knows(LEGACY SLOTS "current") || !knows(LEGACY SLOTS "last-good")) return;
  int lock = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return;
  if (flock(lock, LOCK_EX | LOCK_NB) != 0)
    fprintf(stderr, "aks-flex-node " VERSION ": an activation holds the lock\n");
  else
    fprintf(stderr, "aks-flex-node " VERSION ": would move the host root\n");
  close(lock);
}

static void say_ready(void) {
  FILE *file = fopen(READY ".tmp", "w");
  if (file == NULL) return;
  fputs(VERSION "\n", file);
  fclose(file);
  rename(READY ".tmp", READY);
}

static int run_agent(void) {
  char found[4096];
  sigset_t stop;
  struct timespec limit = {.tv_sec = DIES_AFTER_S};
  unlink(READY);
  if (BEHAVIOUR == EXITS_42) {
    fprintf(stderr, "aks-flex-node " VERSION ": cannot reach the cluster\n");
    return 42;
  }
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  sigprocmask(SIG_BLOCK, &stop, NULL); /* before anything else, so that a stop in the first moment is not lost */

  if (BEHAVIOUR == HANGS) {
    fprintf(stderr, "aks-flex-node " VERSION ": waiting for a lock that nobody frees\n");
    sigwaitinfo(&stop, NULL);
    return 0;
  }
  if (!KNOWS_HOST_ROOT && is_directory(HOST_ROOT) && !is_there(LEGACY SLOTS "current") && KNOWS_SLOTS) {
    fprintf(stderr, "aks-flex-node " VERSION ": " LEGACY SLOTS "current: no such file or directory\n");
    return 1;
  }
  if (KNOWS_HOST_ROOT) link_host_root();
  read_file(UNIT, found, sizeof found);
  int written = write_unit(strstr(found, "Requires=containerd.service") != NULL);
  if (written < 0) perror("aks-flex-node: " UNIT);
  if (written > 0) systemctl("daemon-reload", NULL, NULL);
  if (KNOWS_HOST_ROOT && is_linked()) {
    record_itself();
    consider_move();
  }
  fprintf(stderr, "aks-flex-node " VERSION ": %s\n", written > 0 ? "rewrote its unit, running" : "running");
  say_ready();
  if (BEHAVIOUR == DIES) {
    if (sigtimedwait(&stop, NULL, &limit) < 0) {
      fprintf(stderr, "aks-flex-node " VERSION ": out of memory\n");
      return 1;
    }
  } else {
    sigwaitinfo(&stop, NULL);
  }
  return 0; /* the real one, too, exits 0 when told to stop */
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
  if (is_there(UNIT) && (systemctl("enable", "--quiet", "aks-flex-node-agent.service") != 0 ||
                         systemctl("start", "--quiet", "aks-flex-node-agent.service") != 0)) {
    fprintf(stderr, "Command execution failed: aks-flex-node-agent.service does not start\n");
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

int main(int argc, char **argv) {
  const char *command = argc > 1 ? argv[1] : "";
  if (strcmp(command, "version") == 0) {
    while (BEHAVIOUR == HANGS_IN_VERSION) pause();
    puts("AKS Flex Node Agent\nVersion: " VERSION "\nGit Commit: 0000000000000000000000000000000000000000\n"
         "Build Time: 2026-09-21T00:00:00Z");
    return 0;
  }
  if (strcmp(command, "agent") == 0 || strcmp(command, "daemon") == 0) return run_agent();
  if (strcmp(command, "preflight") == 0) return preflight(argc, argv);
  if (strcmp(command, "start") == 0 || strcmp(command, "bootstrap") == 0) return join(argc, argv);
  if (strcmp(command, "recover-agent-upgrade") == 0 && !is_there(SIGNAL)) return 0;
  /* Not the product's: the lab writes the first unit with it, so that its text is in one place only. */
  if (strcmp(command, "lab-write-unit") == 0) return write_unit(argc > 2 && strcmp(argv[2], "container") == 0) < 0;
  fprintf(stderr, "Error: unknown command \"%s\" for \"aks-flex-node\"\n", command);
  return 1;
}
