/** What a test of an item is a proof of (M11). */
type Proof =
  /** drover changes something, and it is as wanted afterwards. */
  | 'action'
  /** drover recognises the state, and names cause and remedy. */
  | 'diagnosis'
  /** How systemd and the agent behave by themselves: drover claims nothing, the lab shows it. */
  | 'agent'

export interface Item {
  readonly asks: string
  /** Empty where nothing is claimed; `note` then says why. */
  readonly proves: readonly Proof[]
  readonly note?: string
}

export interface Group {
  readonly title: string
  readonly items: Readonly<Record<number, Item>>
}

/** The numbered items that drover is held to, which come from PRs #437 and #323 of Azure/AKSFlexNode. */
export const groups: readonly Group[] = [
  {
    title: 'Reboot and target',
    items: {
      1: {
        asks: 'Old unit, target disabled, worker enabled, reboot: the worker never starts, the agent is active.',
        proves: ['agent', 'diagnosis'],
        note: '`stuck`, with `remediate` offered',
      },
      2: {
        asks: 'Wired, reboot: target, worker and agent are active, and the agent does not wait for the worker.',
        proves: ['action'],
        note: 'the drop-in holds although the agent rewrites its unit',
      },
      3: {
        asks: 'Container variant with a containerd that fails: target and worker active, agent not started.',
        proves: ['action', 'agent', 'diagnosis'],
        note: '`containerd-failed`, `dependency-failed`, nothing restarted',
      },
      4: {
        asks: 'A worker disabled and stopped stays stopped, over a reboot and a restart of the agent.',
        proves: ['agent', 'action'],
        note: 'no playbook starts it',
      },
      5: {
        asks: 'A stuck host: the dependency and a reload start nothing; the restart of the agent starts target and worker.',
        proves: ['agent', 'action'],
      },
      6: { asks: 'Stopping the agent leaves the worker running.', proves: ['agent'] },
      7: {
        asks: 'A worker that hangs or fails does not hold up the agent.',
        proves: ['agent', 'diagnosis', 'action'],
        note: '`worker-down` with the words of the worker; the wiring is kept',
      },
      8: {
        asks: 'Target active, worker dead: a restart of the agent does not help, the start of the worker does, nothing is rebuilt.',
        proves: ['agent', 'action'],
      },
    },
  },
  {
    title: 'Preflight',
    items: {
      9: {
        asks: 'A fresh host without systemd-container, online: a warning, exit 0 with the checks ignored that the environment fails.',
        proves: ['diagnosis'],
      },
      10: { asks: 'The same, offline: an error.', proves: ['diagnosis'], note: 'exit 2, as for every failed host' },
      11: {
        asks: 'The target masked, also at runtime only: an error in all four modes. Missing: a warning only natively online.',
        proves: ['diagnosis'],
      },
      12: {
        asks: 'Disabled, enabled-runtime, linked-runtime: a warning. Enabled, linked: well. Static, indirect, alias: an error that names the state.',
        proves: ['diagnosis'],
        note: 'every row also in `test/tasks/preflight/machines-target.test.ts`',
      },
      13: { asks: 'systemctl cannot be run: an error that names the cause.', proves: ['diagnosis'] },
      14: {
        asks: 'The ignore list makes an error an ignored warning; with fail-on-warnings it fails all the same.',
        proves: ['diagnosis'],
      },
    },
  },
  {
    title: 'Install and uninstall',
    items: {
      15: { asks: 'Writable `/usr/local`: installed there, and no `/opt/unbounded` is made.', proves: ['action'] },
      16: {
        asks: '`/opt/unbounded` of the host, with a mode and contents of its own, is left as it was by install, first boot and uninstall.',
        proves: ['action'],
      },
      17: {
        asks: 'Read-only `/usr/local`: installed to `/opt/unbounded/agent`, directories 0755 whatever the umask, nothing elsewhere.',
        proves: ['action'],
      },
      18: {
        asks: 'A real root stays the root, even where `/usr/local` is writable; a link to `/usr/local` stays in `/usr/local`.',
        proves: ['action'],
      },
      19: {
        asks: 'The mode of an existing directory is kept; a TMPDIR that is noexec does no harm.',
        proves: ['action'],
        note: 'the binary is run from its place alone',
      },
      20: {
        asks: 'An `--install-dir` that agrees is taken with a warning, another is ignored, and nothing is written there.',
        proves: [],
        note: 'an option of scripts that drover does not use: the place follows from the host alone',
      },
      21: { asks: 'Install again after a reset that kept the layout, in either root.', proves: ['action'] },
      22: {
        asks: 'Refused while the unit is there, for any other link at the place of the binary, and while the lock is held.',
        proves: ['diagnosis'],
      },
      23: {
        asks: 'Uninstall works without a first-boot unit; where there is one it is disabled, stopped and removed.',
        proves: ['action'],
      },
      24: {
        asks: 'Uninstall removes the link to `/usr/local`, `.staging` and `.moving`; a link of an operator and `/opt/unbounded` stay.',
        proves: ['action'],
      },
      25: { asks: 'A secret file that is a link, or that its group may read, is refused.', proves: ['diagnosis'] },
    },
  },
  {
    title: 'Link and move',
    items: {
      26: {
        asks: 'A v0.2.0-style host, upgraded: LINKED, `/opt/unbounded` 0755 of root, units and links unchanged, running from `/usr/local`.',
        proves: ['action'],
      },
      27: {
        asks: '`/opt` noexec before the second upgrade: it stays linked, nothing is copied, there is no `.staging`.',
        proves: ['action', 'diagnosis'],
      },
      28: {
        asks: 'Moved: nothing of the agent is left under `/usr/local`, units and hooks name the root, and the process runs from it.',
        proves: ['action'],
      },
      29: {
        asks: 'The lifecycle helper is the running agent byte for byte; a worker that is started again runs its hooks from the root.',
        proves: ['action'],
        note: 'that the node joins again needs a cluster',
      },
      30: {
        asks: 'Interrupted at each point: the next start, or run, ends it; both copies are there until the second pass.',
        proves: ['action'],
      },
      31: {
        asks: 'A copy that cannot run is undone: LINKED, with the units back on `/usr/local`.',
        proves: ['action', 'diagnosis'],
      },
      32: {
        asks: 'The hold: while a move is not over the agent takes no work, ends after two minutes, and never reaches its start limit.',
        proves: ['agent', 'diagnosis'],
        note: '`moving`, `move-stuck` with the reason from the journal',
      },
      33: {
        asks: 'A file of somebody else below the old library directory: the directory is kept.',
        proves: ['action'],
      },
      34: {
        asks: 'CONFLICT and BLOCKED: the agent refuses to start, the worker still does, recovery still restores last-good.',
        proves: ['agent', 'diagnosis'],
        note: '`root-conflict`; migrate changes nothing',
      },
      35: {
        asks: 'Upgrade and activation are refused while a move is under way, also where it begins between the look and the lock.',
        proves: ['diagnosis'],
      },
    },
  },
  {
    title: 'Upgrade and rollback',
    items: {
      36: {
        asks: 'A second build: the slot flips, last-good is the one before, the binary in the worker is equal, no signal is left.',
        proves: ['action'],
      },
      37: {
        asks: 'A candidate that answers `version` and ends with 42 as an agent: back on last-good, digest restored, unit active.',
        proves: ['action', 'diagnosis'],
      },
      38: { asks: 'A retry after a rollback succeeds.', proves: ['action'] },
      39: {
        asks: 'A look changes nothing; then the switch, and the process runs the new slot; an inactive unit stays inactive.',
        proves: ['action'],
      },
      40: {
        asks: 'Back to a release before the host root: refused; allowed all the same, it comes back and leaves nothing under `/usr/local`.',
        proves: ['diagnosis', 'action'],
      },
      41: {
        asks: 'The seed in `/usr/local/bin` is gone after a join under the root; a link there is kept.',
        proves: ['action', 'diagnosis'],
      },
      42: {
        asks: 'Four starts used: the planned restart does not reach the limit, also where `reset-failed` is denied.',
        proves: ['action'],
      },
      43: {
        asks: 'When the recovery of the agent fires, by version of systemd.',
        proves: [],
        note: 'without a signal of the cluster it changes nothing, and drover guards its switch by a rollback of its own',
      },
      44: {
        asks: 'A reboot after an upgrade: the first-boot unit is skipped, the agent is active.',
        proves: ['action'],
        note: 'that the node is ready needs a cluster',
      },
      45: {
        asks: 'No SELinux denials that name the agent, but those of `reset-failed`.',
        proves: ['diagnosis'],
        note: 'counted over a recorded log: no host of the lab has SELinux',
      },
    },
  },
  {
    title: 'First boot and reset',
    items: {
      46: {
        asks: 'First boot: the unit succeeds, `first-boot` is removed, and a value with every kind of quote arrives unchanged.',
        proves: ['action'],
      },
      47: {
        asks: 'A bootstrap that fails is tried again, ever later where systemd can; the boot ends all the same; one that hangs is failed.',
        proves: ['action', 'agent'],
      },
      48: {
        asks: 'Reset: everything that is to go was seen to be there and is gone; `/opt/unbounded` stays; the first-boot unit is stopped.',
        proves: ['action'],
        note: 'a reset by the cluster needs one',
      },
      49: {
        asks: 'Reset twice; on a read-only `/usr/local`; of a linked and of a half-moved host, where it sweeps both roots.',
        proves: ['action'],
      },
      50: { asks: 'Roots, unit names and modes are the same in scripts, templates and code.', proves: ['action'] },
    },
  },
]
