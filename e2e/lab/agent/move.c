/* The move of the host root in two passes across a restart of the daemon (domain.md 6.3, 6.4). */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static const char *const layout[] = {
    BINARY, SLOTS "blue", SLOTS "green", SLOTS "current", SLOTS "last-good", LIBRARY "/aks-flex-node-recovery.sh",
    HELPER, LOCALDNS,
};
enum { LAYOUT_FILES = sizeof layout / sizeof *layout };

static const char *failed(const char *what) {
  static char reason[512];
  snprintf(reason, sizeof reason, "%s%s%s", what, errno ? ": " : "", errno ? strerror(errno) : "");
  say("could not move the agent's files: %s", reason);
  return reason;
}

static void sync_folder(const char *path) {
  int folder = open(path, O_RDONLY | O_DIRECTORY);
  if (folder >= 0) fsync(folder), close(folder);
}

/* One file of the layout into the copy, links with their targets led to where the copy is going to be. */
static int copy_one(const char *name) {
  char from[256], to[256], target[512], moved[600];
  struct stat st;
  snprintf(from, sizeof from, LEGACY "%s", name);
  snprintf(to, sizeof to, STAGING "%s", name);
  if (lstat(from, &st) != 0) return errno == ENOENT ? 0 : -1;
  if (!S_ISLNK(st.st_mode)) return copy_file(from, to);
  ssize_t length = readlink(from, target, sizeof target - 1);
  if (length <= 0) return -1;
  target[length] = '\0';
  if (strncmp(target, LEGACY "/", sizeof LEGACY) == 0)
    snprintf(moved, sizeof moved, HOST_ROOT "%s", target + sizeof LEGACY - 1);
  else
    snprintf(moved, sizeof moved, "%s", target);
  return symlink(moved, to);
}

static int make_folders(const char *root) {
  static const char *const folders[] = {"", "/bin", "/lib", LIBRARY, "/libexec"};
  char path[256];
  for (int i = 0; i < 5; i++) {
    snprintf(path, sizeof path, "%s%s", root, folders[i]);
    if (mkdir(path, 0755) != 0 && errno != EEXIST) return -1;
    if (chmod(path, 0755) != 0) return -1;
  }
  return 0;
}

static int build_staging(void) {
  if (is_there(STAGING) && run("rm", "-rf", "--one-file-system", STAGING, NULL) != 0) return -1;
  if (make_folders(STAGING) != 0) return -1;
  for (int i = 0; i < LAYOUT_FILES; i++)
    if (copy_one(layout[i]) != 0) return -1;
  int mark = open(STAGING "/.moving", O_WRONLY | O_CREAT, 0644);
  if (mark < 0) return -1;
  syncfs(mark);
  return close(mark);
}

/* In the order that never has a unit name what is not there: recovery, agent, helper, hooks, LocalDNS. */
static int write_units(void) {
  if (write_recovery() < 0 || write_agent_unit(is_container_variant()) < 0) return -1;
  if (install_helper() != 0 || rewrite_hooks() < 0 || rewrite_localdns() < 0) return -1;
  sync_folder(UNITS);
  sync_folder(root());
  return run("systemctl", "daemon-reload", NULL) == 0 ? 0 : -1;
}

static void undo(void) {
  if (rename(HOST_ROOT, STAGING) != 0 || symlink(LEGACY, HOST_ROOT) != 0) return;
  sync_folder("/opt/unbounded");
  run("rm", "-rf", "--one-file-system", STAGING, NULL);
  write_units();
}

static int queue_restart(void) {
  char unit[128];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(unit, sizeof unit, "--unit=aks-flex-node-agent-upgrade-restart-%lld%09ld", (long long)now.tv_sec, now.tv_nsec);
  run("systemctl", "reset-failed", AGENT, NULL);
  /* The product leaves the timer's accuracy at a minute; no story waits that long for nothing. */
  return run("systemd-run", "--quiet", "--collect", unit, "--on-active=1s", "--timer-property=AccuracySec=100ms",
             "/usr/bin/systemctl", "restart", AGENT, NULL);
}

/* The copy is in place: run it before any unit names it. Also where a move goes on whose restart was lost. */
static const char *take_into_use(void) {
  if (make_folders(HOST_ROOT) != 0) return failed(HOST_ROOT);
  errno = 0;
  if (run_quietly(HOST_ROOT SLOTS "current", "version", NULL) != 0) {
    const char *why = failed("the copy at " HOST_ROOT SLOTS "current does not run");
    undo();
    return is_linked() ? NULL : why; /* undone, so the root is what it was: back to work */
  }
  if (write_units() != 0) return failed("its units cannot be written");
  die_at("units-rewritten");
  if (queue_restart() != 0) return failed("its restart cannot be queued");
  die_at("restart-queued");
  return "it is about to be restarted from " HOST_ROOT;
}

static const char *first_pass(void) {
  struct statvfs fs;
  if (statvfs("/opt/unbounded", &fs) != 0) return failed("/opt/unbounded"), NULL;
  if (fs.f_flag & ST_NOEXEC) {
    say("not moving the agent's files: /opt/unbounded is mounted noexec");
    return NULL;
  }
  if (build_staging() != 0) return failed(STAGING), NULL;
  die_at("staging-built");
  if (unlink(HOST_ROOT) != 0) return failed(HOST_ROOT), NULL;
  die_at("link-removed");
  if (rename(STAGING, HOST_ROOT) != 0) return failed(STAGING);
  sync_folder("/opt/unbounded");
  die_at("renamed");
  return take_into_use();
}

static const char *second_pass(void) {
  char path[256];
  errno = 0;
  if (is_there(SECOND_PASS_FAILS)) return failed("the NVIDIA state of kube1 is incomplete");
  if (write_units() != 0) return failed("its units cannot be written");
  for (int i = 0; i < LAYOUT_FILES; i++) {
    snprintf(path, sizeof path, LEGACY "%s", layout[i]);
    if (is_there(path) && unlink(path) != 0) return failed(path);
    if (i == 2) die_at("half-removed");
  }
  if (rmdir(LEGACY LIBRARY) != 0 && errno == ENOTEMPTY) say("kept " LEGACY LIBRARY ": it still holds files");
  sync_folder(LEGACY);
  if (is_there(KNOWN_AGENTS) && unlink(KNOWN_AGENTS) != 0) return failed(KNOWN_AGENTS);
  die_at("before-mark-removed");
  if (unlink(HOST_ROOT "/.moving") != 0) return failed(HOST_ROOT "/.moving");
  say("moved the agent's files to " HOST_ROOT);
  return NULL;
}

static int is_time(void) {
  return is_linked() && !is_there(SIGNAL) && knows(LEGACY SLOTS "current") && knows(LEGACY SLOTS "last-good");
}

const char *consider_move(void) {
  const char *held_up = NULL;
  int moving = MOVES && is_moving();
  if (!moving && !is_time()) return NULL;
  int lock = take_lock();
  if (lock < 0) {
    say("an activation holds the lock");
    return moving ? "its move is not finished, and an activation holds the lock" : NULL;
  }
  /* Looked at again: who held the lock a moment ago may have moved the files. */
  if (!MOVES)
    say("would move the host root");
  else if (is_moving())
    held_up = runs_from(HOST_ROOT) ? second_pass() : take_into_use();
  else if (is_time())
    held_up = first_pass();
  close(lock);
  return held_up;
}
