// line PID_A PID_B: a wire between the network namespaces of two processes, with an end in each (10.99.0.1 and 10.99.0.2). Each line
// of standard input is a number, the microseconds that a packet is on its way from then on; the end of input is the end of the wire.
// A real path with real TCP on it: the kernel may have no netem, and a proxy would hide what the window costs.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { MTU = 1500, SLOTS = 8192 };

struct packet {
  long long due;
  int size;
  char bytes[MTU];
};

struct lane {
  struct packet *slots;
  unsigned head, tail;
};

static void die(const char *what) {
  perror(what);
  exit(1);
}

static long long now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void set_address(struct ifreq *request, unsigned long what, const char *text, int fd) {
  struct sockaddr_in *address = (struct sockaddr_in *)&request->ifr_addr;
  memset(address, 0, sizeof *address);
  address->sin_family = AF_INET;
  inet_pton(AF_INET, text, &address->sin_addr);
  if (ioctl(fd, what, request) < 0) die("setting an address of the wire");
}

// The device file is this machine's; the interface is made in the namespace in which it is opened.
static int open_end(const char *pid, const char *address) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/net", atoi(pid));
  int space = open(path, O_RDONLY);
  if (space < 0 || setns(space, CLONE_NEWNET) < 0) die(path);
  close(space);
  int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  if (tun < 0) die("/dev/net/tun");
  struct ifreq request;
  memset(&request, 0, sizeof request);
  strcpy(request.ifr_name, "line0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(tun, TUNSETIFF, &request) < 0) die("TUNSETIFF");
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) die("socket");
  set_address(&request, SIOCSIFADDR, address, fd);
  set_address(&request, SIOCSIFNETMASK, "255.255.255.0", fd);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(fd, SIOCSIFFLAGS, &request) < 0) die("SIOCSIFFLAGS");
  close(fd);
  return tun;
}

static void take(int from, struct lane *lane, long long delay) {
  for (;;) {
    unsigned next = (lane->head + 1) % SLOTS;
    if (next == lane->tail) return; // full: what comes waits in the device
    struct packet *packet = &lane->slots[lane->head];
    ssize_t size = read(from, packet->bytes, MTU);
    if (size <= 0) return;
    packet->size = (int)size;
    packet->due = now_us() + delay;
    lane->head = next;
  }
}

// Sends what is due, and says how long until the next is; -1: there is none.
static long long give(int to, struct lane *lane) {
  while (lane->tail != lane->head) {
    struct packet *packet = &lane->slots[lane->tail];
    long long left = packet->due - now_us();
    if (left > 0) return left;
    if (write(to, packet->bytes, packet->size) < 0) { /* a packet lost; TCP sends it again */ }
    lane->tail = (lane->tail + 1) % SLOTS;
  }
  return -1;
}

int main(int count, char **words) {
  if (count != 3) return 2;
  int ends[2] = {open_end(words[1], "10.99.0.1"), open_end(words[2], "10.99.0.2")};
  struct lane lanes[2] = {{calloc(SLOTS, sizeof(struct packet)), 0, 0}, {calloc(SLOTS, sizeof(struct packet)), 0, 0}};
  if (lanes[0].slots == NULL || lanes[1].slots == NULL) die("memory");
  long long delay = 0;
  puts("up");
  fflush(stdout);
  for (;;) {
    long long first = give(ends[1], &lanes[0]), second = give(ends[0], &lanes[1]);
    long long left = first < 0 ? second : second < 0 || first < second ? first : second;
    struct timespec wait = {left / 1000000, left % 1000000 * 1000};
    struct pollfd fds[3] = {{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}, {0, POLLIN, 0}};
    if (ppoll(fds, 3, left < 0 ? NULL : &wait, NULL) < 0) die("poll");
    if (fds[2].revents != 0) {
      char text[32];
      ssize_t size = read(0, text, sizeof text - 1);
      if (size <= 0) return 0;
      text[size] = 0;
      delay = atoll(text);
      puts("set");
      fflush(stdout);
    }
    if (fds[0].revents & POLLIN) take(ends[0], &lanes[0], delay);
    if (fds[1].revents & POLLIN) take(ends[1], &lanes[1], delay);
  }
}
