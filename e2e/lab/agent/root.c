/* Where the agent's files lie, and what each release knows of that (domain.md 6.1). */
#define _GNU_SOURCE
#include "agent.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int has_layout(const char *root) {
  static const char *const slots[] = {"blue", "green", "current", "last-good"};
  char path[256];
  for (int i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "%s" SLOTS "%s", root, slots[i]);
    if (is_there(path)) return 1;
  }
  return 0;
}

int is_linked(void) { return is_link_to(HOST_ROOT, LEGACY) && is_there(LEGACY SLOTS "current"); }

int is_moving(void) { return is_directory(HOST_ROOT) && is_there(HOST_ROOT "/.moving"); }

const char *root(void) {
  if (!KNOWS_HOST_ROOT || !is_there(HOST_ROOT) || is_link_to(HOST_ROOT, LEGACY)) return LEGACY;
  struct stat st;
  return stat(HOST_ROOT, &st) == 0 && S_ISDIR(st.st_mode) ? HOST_ROOT : LEGACY;
}

const char *refusal(void) {
  struct stat st;
  if (!KNOWS_HOST_ROOT || lstat(HOST_ROOT, &st) != 0 || S_ISLNK(st.st_mode)) return NULL;
  if (!S_ISDIR(st.st_mode)) return HOST_ROOT " is not a directory";
  if (is_moving() || !has_layout(LEGACY)) return NULL;
  if (has_layout(HOST_ROOT))
    return "the agent is installed under both " LEGACY " and " HOST_ROOT "; run reset, then install again";
  return "the agent is installed under " LEGACY ", but " HOST_ROOT " also exists; remove " HOST_ROOT " or run reset";
}

/* LEGACY becomes LINKED, and a link that leads to no agent any more goes: nothing moves, and the host can still go back. */
void link_host_root(void) {
  if (is_link_to(HOST_ROOT, LEGACY) && !has_layout(LEGACY)) unlink(HOST_ROOT);
  if (is_there(HOST_ROOT) || !has_layout(LEGACY)) return;
  if (mkdir("/opt/unbounded", 0755) == 0) chmod("/opt/unbounded", 0755);
  if (symlink(LEGACY, HOST_ROOT) != 0) perror("aks-flex-node: " HOST_ROOT);
}

int knows(const char *path) {
  char known[65536], hex[65];
  read_file(KNOWN_AGENTS, known, sizeof known);
  return digest_of(path, hex) == 0 && strstr(known, hex) != NULL;
}

const char *itself(void) {
  static char path[32];
  snprintf(path, sizeof path, "/proc/%d/exe", getpid()); /* not /proc/self: programs started here are to read it */
  return path;
}

void record_itself(void) {
  char hex[65];
  if (knows(itself()) || digest_of(itself(), hex) != 0) return;
  int file = open(KNOWN_AGENTS, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0) return;
  dprintf(file, "%s\n", hex);
  close(file);
}

int runs_from(const char *root) {
  char self[512];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  size_t prefix = strlen(root);
  return length > (ssize_t)prefix && memcmp(self, root, prefix) == 0 && self[prefix] == '/';
}

int take_lock(void) {
  int lock = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  close(lock);
  return -1;
}

void die_at(const char *point) {
  char wanted[64];
  read_file(DIE_AT, wanted, sizeof wanted);
  wanted[strcspn(wanted, "\n")] = '\0';
  if (strcmp(wanted, point) != 0 || unlink(DIE_AT) != 0) return;
  say("killed at %s", point);
  raise(SIGKILL);
}
