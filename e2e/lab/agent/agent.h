/*
 * A stand-in for the AKS Flex Node agent. It is not the product; it is as much of it as drover must live beside.
 * A release is these files with other macros: build.ts says which.
 */
#ifndef LAB_AGENT_H
#define LAB_AGENT_H

enum { HEALTHY, EXITS_42, DIES, HANGS, HANGS_IN_VERSION };
enum { PREFLIGHT_OK, PREFLIGHT_FAILS, PREFLIGHT_SILENT };
enum { RESET_WORKS, RESET_FAILS, RESET_FORGETS_ROOTS };

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
/* Without it a release only says when it would move its files. */
#ifndef MOVES
#define MOVES 0
#endif
#ifndef RESET
#define RESET RESET_WORKS
#endif

#define UNITS "/etc/systemd/system/"
#define AGENT "aks-flex-node-agent.service"
#define RECOVERY "aks-flex-node-agent-recovery.service"
#define HOST_ROOT "/opt/unbounded/agent"
#define STAGING HOST_ROOT ".staging"
#define LEGACY "/usr/local"
#define LIBRARY "/lib/aks-flex-node"
#define SLOTS LIBRARY "/aks-flex-node-"
#define BINARY "/bin/aks-flex-node"
#define HELPER "/bin/unbounded-agent-nspawn-lifecycle"
#define LOCALDNS "/libexec/unbounded-localdns-network"
#define LOCALDNS_UNIT "unbounded-localdns-network.service"
#define CONFIG "/etc/aks-flex-node"
#define KNOWN_AGENTS CONFIG "/host-root-agents"
#define STATE CONFIG "/daemon-state.json"
#define SIGNAL CONFIG "/agent-upgrade-signal.json"
#define LOCK "/run/aks-flex-node-agent-upgrade.lock"

/* No such files in the product. A story's own check of an agent's health looks for the first; the others make it fail. */
#define READY "/run/lab-agent-ready"
#define DIE_AT "/run/lab-die-at"
#define SECOND_PASS_FAILS "/run/lab-second-pass-fails"
#define COPY_UNFIT "/run/lab-copy-unfit"
#define GATE_S "/run/lab-gate-s"

#define say(...) (fprintf(stderr, "aks-flex-node " VERSION ": " __VA_ARGS__), fputc('\n', stderr))

/* files.c */
int is_there(const char *path);
int is_directory(const char *path);
int is_link_to(const char *path, const char *text);
void read_file(const char *path, char *text, unsigned long size);
/* 1 if written, 0 if it was right already, -1 if it cannot be written. Whole or not at all. */
int write_file(const char *path, const char *text, int mode);
int copy_file(const char *from, const char *to);
/* Links followed; 0 and the digest, or -1. */
int digest_of(const char *path, char hex[65]);
/* The words up to a null, without a shell. Its status as waitpid has it, -1 if it could not be started. */
int run(const char *program, ...);
int run_quietly(const char *program, ...);

/* root.c */
int has_layout(const char *root);
int is_linked(void);
int is_moving(void);
/* Where the installation lies, as far as this release knows. */
const char *root(void);
/* Why the host root cannot be used, or null (domain.md 6.2). */
const char *refusal(void);
void link_host_root(void);
int knows(const char *path);
/* The running binary's file, even if another one lies at its path by now. */
const char *itself(void);
void record_itself(void);
int runs_from(const char *root);
/* The descriptor of the lock, held; -1 if somebody else holds it. */
int take_lock(void);
/* Dies there if a story asked for it, once. */
void die_at(const char *point);

/* units.c */
int write_agent_unit(int container);
int write_recovery(void);
int write_hooks(const char *machine);
int rewrite_hooks(void);
int rewrite_localdns(void);
int is_container_variant(void);
int install_helper(void);

/* move.c */
/* What the host root asks of a daemon that just started. Null, or why it takes no work (domain.md 6.5). */
const char *consider_move(void);

int reset(void);
#endif
