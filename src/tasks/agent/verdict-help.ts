import type { Verdict } from './verdict.ts'

export interface VerdictHelp {
  readonly means: string
  /** What to run or to look at, in Markdown; links are relative to docs/operations.md. */
  readonly helps: string
}

/** The verdicts for whoever looks one up: docs/operations.md has them as a table. */
export const verdictHelp: Readonly<Record<Verdict, VerdictHelp>> = {
  'no-systemd': { means: 'systemd does not answer', helps: 'look at the host by hand' },
  locked: { means: 'a run of drover holds the host', helps: '[wait, or let it go](#locked)' },
  'rolling-back': { means: 'a rollback is carried out', helps: '[wait](#an-armed-rollback)' },
  'no-agent': {
    means: 'no agent is installed',
    helps: '`drover run install`, or by Ignition where the host is made from an image',
  },
  'target-masked': {
    means: '`machines.target` is masked',
    helps: '[unmask it by hand](#target-masked); drover never does',
  },
  'target-missing': { means: 'systemd does not know `machines.target`', helps: 'install `systemd-container`' },
  'containerd-failed': {
    means: 'the container variant of the agent waits for a containerd that does not run',
    helps: 'mend containerd, start it, then the agent',
  },
  'state-unreadable': {
    means: 'which worker is active cannot be said',
    helps: '[look at the state](#state-unreadable), or log in as root',
  },
  'worker-masked': { means: "the worker's unit is masked", helps: 'find out who did it; drover never unmasks' },
  stuck: { means: "the active side's worker is enabled and does not run", helps: '`drover run remediate`' },
  'root-conflict': {
    means: "CONFLICT or BLOCKED: what lies at the agent's root keeps it from starting",
    helps: '[decide which one the node runs](#conflict-and-blocked)',
  },
  'move-stuck': {
    means:
      'the agent takes no work, since a move of its files does not end; the line gives the reason from its journal',
    helps: '[put the reason right](#a-half-moved-host), then `drover run migrate`',
  },
  'agent-lost': {
    means: "the agent's unit is installed, and at neither root is there an agent that it could start",
    helps: '`systemctl cat aks-flex-node-agent.service`; to begin anew, `drover run reset` and `drover run install`',
  },
  'agent-failed': {
    means: "the agent's unit failed",
    helps: '`journalctl -u aks-flex-node-agent.service`; [after an upgrade](#a-failed-upgrade) `drover run rollback`',
  },
  moving: { means: 'the agent moves its files just now', helps: 'wait three minutes, look again' },
  'agent-down': {
    means: "the agent's unit does not run",
    helps: 'find out who stopped it; drover starts no agent that is down',
  },
  'worker-stopped': {
    means: 'the worker is disabled and down, as on purpose',
    helps: 'nothing, or `machinectl enable kube1` and `drover run remediate`',
  },
  'worker-starting': { means: 'the worker is on its way', helps: 'look again in a minute' },
  'worker-disabled': {
    means: 'the worker runs, but no boot would start it',
    helps: '`machinectl enable kube1` if it is to stay',
  },
  'not-wired': {
    means: 'all runs, but the next boot would not start the worker',
    helps: '`drover run machines-target`',
  },
  'agent-disabled': {
    means: 'all runs, but the next boot would not start the agent',
    helps: '`systemctl enable aks-flex-node-agent.service` if it is to stay',
  },
  'move-cut': {
    means: 'STAGING or SWAP-GAP: a move was begun and nobody goes on with it; the agent runs from where it was',
    helps: '`drover run migrate` goes on, `drover run unlink` goes back',
  },
  unfinished: {
    means: 'a cut run left a reload of systemd undone',
    helps: 'any playbook that may change something does it first; `preflight` and other looks only tell of it',
  },
  unconfirmed: { means: 'a rollback is armed and not confirmed', helps: '[decide, or wait](#an-armed-rollback)' },
  healthy: {
    means: 'agent and worker run, and the next boot will start them',
    helps: 'nothing. A fix of `migrate` beside it says that the host is LINKED and ready to [move](migration.md)',
  },
}
