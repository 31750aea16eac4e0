/*
 * A stand-in for the AKS Flex Node agent. It is not the product; it is as much of it as drover must live beside:
 * it says its version, it writes its own unit at every start, and it stays.
 *
 * A program, not a script: a script's /proc/PID/exe is its interpreter, and drover looks at what the service really runs.
 *
 * Compile with -DRELEASE_OLD (v0.2.0), -DRELEASE_NEW (wires machines.target) or -DRELEASE_EXITS_42 (answers `version`, fails as agent).
 * It does not link or move the host root, nor upgrade, recover or reset: those commands fail as unknown.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(RELEASE_OLD)
#define VERSION "v0.2.0"
#define COMMIT "0000000000000000000000000000000000000200"
#define WANTS_MACHINES ""
#define KNOWS_HOST_ROOT 0
#define FAILS_WITH 0
#elif defined(RELEASE_NEW)
#define VERSION "v0.3.0"
#define COMMIT "0000000000000000000000000000000000000300"
#define WANTS_MACHINES " machines.target"
#define KNOWS_HOST_ROOT 1
#define FAILS_WITH 0
#elif defined(RELEASE_EXITS_42)
#define VERSION "v0.3.1"
#define COMMIT "0000000000000000000000000000000000000301"
#define WANTS_MACHINES " machines.target"
#define KNOWS_HOST_ROOT 1
#define FAILS_WITH 42
#else
#error "say which release"
#endif

#define UNIT "/etc/systemd/system/aks-flex-node-agent.service"
#define HOST_ROOT "/opt/unbounded/agent"

/* Where the installation lies: a real directory at HOST_ROOT is one, a link there leads to /usr/local. */
static const char *root(void) {
  struct stat st;
  if (KNOWS_HOST_ROOT && lstat(HOST_ROOT, &st) == 0 && S_ISDIR(st.st_mode)) return HOST_ROOT;
  return "/usr/local";
}

static void compose_unit(char *text, size_t size, int container) {
  snprintf(text, size,
           "[Unit]\n"
           "Description=AKS Flex Node Agent\n"
           "After=network-online.target systemd-udev-settle.service%s\n"
           "Wants=network-online.target systemd-udev-settle.service" WANTS_MACHINES "\n"
           "%s"
           "OnFailure=aks-flex-node-agent-recovery.service\n"
           "StartLimitIntervalSec=300\n"
           "StartLimitBurst=5\n"
           "\n"
           "[Service]\n"
           "Type=simple\n"
           "RemainAfterExit=no\n"
           "ExecStart=%s/lib/aks-flex-node/aks-flex-node-current agent --config /etc/aks-flex-node/config.json\n"
           "TimeoutStartSec=300\n"
           "TimeoutStopSec=60\n"
           "Restart=on-failure\n"
           "RestartSec=30\n"
           "StandardOutput=journal\n"
           "StandardError=journal\n"
           "\n"
           "[Install]\n"
           "WantedBy=multi-user.target\n",
           container ? " containerd.service" : "", container ? "Requires=containerd.service\n" : "", root());
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

static void daemon_reload(void) {
  pid_t child = fork();
  if (child == 0) {
    execlp("systemctl", "systemctl", "daemon-reload", (char *)NULL);
    _exit(127);
  }
  if (child > 0) waitpid(child, NULL, 0);
}

static int run_agent(void) {
  char found[4096];
  sigset_t stop;
  int signal_number;
  if (FAILS_WITH) {
    fprintf(stderr, "aks-flex-node " VERSION ": cannot reach the cluster\n");
    return FAILS_WITH;
  }
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  sigprocmask(SIG_BLOCK, &stop, NULL); /* before anything else, so that a stop in the first moment is not lost */

  read_file(UNIT, found, sizeof found);
  int written = write_unit(strstr(found, "Requires=containerd.service") != NULL);
  if (written < 0) perror("aks-flex-node: " UNIT);
  if (written > 0) daemon_reload();
  fprintf(stderr, "aks-flex-node " VERSION ": %s\n", written > 0 ? "rewrote its unit, running" : "running");
  sigwait(&stop, &signal_number);
  return 0; /* the real one, too, exits 0 when told to stop */
}

static int preflight(int argc, char **argv) {
  int config = 0, json = 0;
  for (int i = 2; i < argc; i++) {
    if (strncmp(argv[i], "--config", 8) == 0) config = 1;
    if (strcmp(argv[i], "--output=json") == 0) json = 1;
    if (strcmp(argv[i], "--output") == 0 && i + 1 < argc) json = strcmp(argv[i + 1], "json") == 0;
  }
  if (!config) {
    fprintf(stderr, "Error: required flag(s) \"config\" not set\n");
    return 1;
  }
  if (json)
    puts("{\n"
         "  \"status\": \"ok\",\n"
         "  \"checks\": [\n"
         "    {\"name\": \"is-privileged-user\", \"target\": \"host user\", \"severity\": \"ok\", \"message\": \"preflight is running as root\", \"ignored\": false},\n"
         "    {\"name\": \"host-packages\", \"target\": \"host packages\", \"severity\": \"ok\", \"message\": \"required host packages are installed\", \"ignored\": false},\n"
         "    {\"name\": \"machines-target\", \"target\": \"machines.target\", \"severity\": \"ok\", \"message\": \"machines.target is enabled\", \"ignored\": false}\n"
         "  ],\n"
         "  \"summary\": {\"ok\": 3, \"warnings\": 0, \"errors\": 0}\n"
         "}");
  else
    puts("[preflight] Running AKS Flex Node preflight checks\n"
         "\t[OK is-privileged-user]: preflight is running as root (target: host user)\n"
         "\t[OK host-packages]: required host packages are installed (target: host packages)\n"
         "\t[OK machines-target]: machines.target is enabled (target: machines.target)");
  return 0;
}

int main(int argc, char **argv) {
  const char *command = argc > 1 ? argv[1] : "";
  if (strcmp(command, "version") == 0) {
    puts("AKS Flex Node Agent\nVersion: " VERSION "\nGit Commit: " COMMIT "\nBuild Time: 2026-09-21T00:00:00Z");
    return 0;
  }
  if (strcmp(command, "agent") == 0 || strcmp(command, "daemon") == 0) return run_agent();
  if (strcmp(command, "preflight") == 0) return preflight(argc, argv);
  /* Not the product's: the lab writes the first unit with it, so that its text is in one place only. */
  if (strcmp(command, "lab-write-unit") == 0) return write_unit(argc > 2 && strcmp(argv[2], "container") == 0) < 0;
  fprintf(stderr, "Error: unknown command \"%s\" for \"aks-flex-node\"\n", command);
  return 1;
}
