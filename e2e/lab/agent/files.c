/* Files and programs. The paths are all the agent's own. */
#define _GNU_SOURCE
#include "agent.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int is_directory(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int is_there(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0;
}

int is_link_to(const char *path, const char *text) {
  char target[512];
  ssize_t length = readlink(path, target, sizeof target);
  return length == (ssize_t)strlen(text) && memcmp(target, text, length) == 0;
}

void read_file(const char *path, char *text, unsigned long size) {
  size_t length = 0;
  FILE *file = fopen(path, "r");
  if (file != NULL) {
    length = fread(text, 1, size - 1, file);
    fclose(file);
  }
  text[length] = '\0';
}

int write_file(const char *path, const char *text, int mode) {
  char found[8192], unfinished[512];
  read_file(path, found, sizeof found);
  if (is_there(path) && strcmp(text, found) == 0) return 0;
  snprintf(unfinished, sizeof unfinished, "%s.tmp", path);
  FILE *file = fopen(unfinished, "w");
  if (file == NULL) return -1;
  int bad = fputs(text, file) < 0;
  bad |= fchmod(fileno(file), mode) != 0;
  bad |= fflush(file) != 0 || fsync(fileno(file)) != 0;
  bad |= fclose(file) != 0;
  return bad || rename(unfinished, path) != 0 ? -1 : 1;
}

int copy_file(const char *from, const char *to) {
  char unfinished[512];
  snprintf(unfinished, sizeof unfinished, "%s.tmp", to);
  unlink(unfinished);
  /* Not renamed from the one that is there: a program may be running from it. */
  if (run("cp", "--preserve=mode", "--", from, unfinished, NULL) != 0) return -1;
  return rename(unfinished, to);
}

static int run_with(int quietly, const char *program, va_list more) {
  const char *words[24] = {program};
  int status = -1, count = 1;
  while (count < 23 && (words[count] = va_arg(more, const char *)) != NULL) count += 1;
  pid_t child = fork();
  if (child == 0) {
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    if (quietly) dup2(nothing, STDOUT_FILENO), dup2(nothing, STDERR_FILENO);
    execvp(program, (char *const *)words);
    _exit(127);
  }
  if (child > 0) waitpid(child, &status, 0);
  return status;
}

int run(const char *program, ...) {
  va_list more;
  va_start(more, program);
  int status = run_with(0, program, more);
  va_end(more);
  return status;
}

int run_quietly(const char *program, ...) {
  va_list more;
  va_start(more, program);
  int status = run_with(1, program, more);
  va_end(more);
  return status;
}

int digest_of(const char *path, char hex[65]) {
  char command[512];
  hex[0] = '\0';
  snprintf(command, sizeof command, "sha256sum <'%s' 2>/dev/null", path);
  FILE *out = popen(command, "r");
  if (out == NULL) return -1;
  int read = fscanf(out, "%64s", hex);
  pclose(out);
  return read == 1 && strlen(hex) == 64 ? 0 : -1;
}
