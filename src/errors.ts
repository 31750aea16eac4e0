/**
 * Every failure a user can meet. The code is stable and is what programs and docs/errors.md rely on;
 * the wording may improve at any time.
 */
export const errorCodes = {
  // The request was wrong: exit 5, nothing was touched.
  usage: 'The command line is wrong.',
  'inventory-invalid': 'The inventory cannot be used as it stands.',
  'inventory-not-found': 'The inventory names a file that is not there or cannot be read.',
  'inventory-empty': 'The inventory holds no host.',
  'pattern-no-match': 'A host pattern matches no host of the inventory.',
  'playbook-invalid': 'The playbook cannot be used as it stands.',
  'playbook-not-found': 'No playbook has that name or path.',
  'variable-undefined': 'A playbook uses a variable that nothing defines.',
  'secret-in-text': 'A secret variable stands inside a longer text.',
  'key-unusable': 'A private key cannot be used: missing, damaged, or encrypted without a passphrase.',
  'ssh-client-unusable':
    'The openssh transport is wanted, and this machine has no OpenSSH client that drover can drive.',
  'ssh-config-invalid': 'The ssh_config cannot be used as it stands.',
  'known-hosts-unreadable': 'The known_hosts file cannot be read.',
  'confirmation-missing': 'The playbook does what cannot be undone, and nobody has confirmed it.',
  'provision-invalid': 'What a host is to be provisioned with cannot be rendered.',
  'release-invalid': 'A release of the agent is not what the inventory or playbook says it is.',
  'release-unavailable': 'A release of the agent cannot be had: no such file, or the download failed.',
  // The host could not be reached: exit 4 when nothing worse happened.
  'resolve-failed': "The host's name has no address.",
  'connect-failed': 'No TCP connection to the host.',
  'connect-timeout': 'The host did not answer the TCP connection in time.',
  'handshake-failed': 'The SSH key exchange failed, or it or the login did not end in time.',
  'host-key-unknown': "known_hosts does not know the host's key.",
  'host-key-changed': 'The host shows another key than known_hosts holds.',
  'host-key-revoked': "The host's key is marked @revoked in known_hosts.",
  'auth-failed': 'The host refused every credential that was offered, or the account.',
  'channel-failed': 'The connection stands but the host opens no channel for a command.',
  'connection-lost': 'The connection broke before the answer was complete.',
  // Something on the host is not as drover needs it.
  'become-failed': 'Root rights could not be had on the host.',
  'command-timeout': 'A command on the host did not end within its deadline.',
  'inspect-failed': 'The facts of the host could not be read.',
  'inspect-stalled': 'Reading the facts stopped in the middle; the section is named.',
  'apply-refused': 'The host would not start the changes.',
  'apply-incomplete': 'The apply unit ended without a result, as after a reboot.',
  'step-timeout': 'The changes of one step took longer than it may take; they were ended on the host.',
  'change-failed': 'One change failed on the host; those after it were not begun.',
  drifted: 'The host changed between reading and changing it; nothing further was done.',
  'not-converged': 'The changes were made, and a second look finds something still not as wanted.',
  locked: 'Another run holds the host.',
  'same-machine': 'The host is a machine that another name of the inventory leads to as well.',
  'wrong-machine': "The host's address leads to another machine than it did before.",
  'reboot-timeout': 'The host was told to reboot and was not back, on another boot, in time.',
  'propagation-unknown': 'A stop or restart would reach units that were not looked at.',
  'precondition-unmet': 'The host lacks something the step needs.',
  'dependency-failed': 'A unit that the agent requires has failed.',
  'target-masked': 'machines.target is masked, so no worker can start at boot.',
  'would-start-others': 'Starting machines.target would also start machines nobody asked for.',
  'agent-missing': 'No agent is installed on the host.',
  'state-unreadable': "The agent's daemon-state.json is missing, damaged, or fails its checksum.",
  'worker-down': 'An enabled worker does not run.',
  'worker-leader-changed': 'A worker that ran through the run has another leader process.',
  'start-limit-near': 'One more start would reach the start limit of the unit.',
  'preflight-failed': 'A preflight check found an error.',
  'path-in-the-way': 'Something of another kind is where a file, link or directory is wanted.',
  'upload-failed': 'A file could not be brought to the host whole.',
  'no-space': 'The host has too little room, or too few inodes, for what is to be put there.',
  'already-installed': 'An agent is installed on the host already, and it is not the one that is wanted.',
  'operator-link': "The agent's root on the host is a link that an operator made.",
  'image-managed': 'The host is made from an image and is provisioned by Ignition, not over SSH.',
  'layout-unknown': "The agent's files on the host are not laid out as any release leaves them.",
  'move-unfinished':
    'The agent is in the middle of moving its files to another root, or both roots hold an installation.',
  'move-not-ready': 'A binary that the agent runs, or would go back to, does not know the root it would be moved to.',
  'root-noexec': 'The file system that the agent would be moved to runs no programs.',
  'copy-unfit': 'The copy of the agent at its new root does not run; what drover had changed was put back.',
  'move-stuck': 'A move of the agent between its roots does not come to its end.',
  'reset-failed': "The agent's own reset ended with an error.",
  'interfaces-would-go': "The agent's own reset would delete network interfaces that may be yours.",
  'upgrade-pending': 'An upgrade that the cluster asked the agent for is not over yet.',
  'activation-locked': "Somebody holds the agent's activation lock.",
  'downgrade-refused': 'The release is older than the host root, and the host could not go back to it.',
  'candidate-unfit': 'The new agent does not run on the host, or is not the version that was asked for.',
  'agent-unhealthy': 'The agent does not run and stay up as it must.',
  'config-invalid': "The agent's config.json would not be valid.",
  'preflight-could-not-run': "The agent's own preflight ended without a report.",
  'rollback-armed': 'A rollback that another run armed is waiting on the host.',
  'rolled-back': 'What was switched did not prove healthy, and the host is back on what it ran before.',
  'rollback-superseded': 'The host was not rolled back, since somebody else has changed what was to be undone.',
  'rollback-failed': 'A rollback did not end as it should; the message says whether the host goes on trying by itself.',
  'package-manager-missing': 'The host has no package manager that drover may use.',
  cancelled: 'The run was interrupted before this host was finished.',
  internal: 'A fault in drover itself.',
} as const

export type ErrorCode = keyof typeof errorCodes

export interface ErrorDetails {
  readonly code: ErrorCode
  /** What is wrong, in the user's terms. */
  readonly message: string
  /** What to do next. Required: an error that cannot say it is not finished. */
  readonly remedy: string
  readonly host?: string
  readonly step?: string
  /** The host's own words or the position in a file; shown below the message. */
  readonly detail?: string
  readonly cause?: unknown
}

/** The one error class. `host` and `step` are added once, where a lane knows them, by `at`. */
export class DroverError extends Error {
  readonly code: ErrorCode
  readonly remedy: string
  readonly host: string | undefined
  readonly step: string | undefined
  readonly detail: string | undefined

  constructor(details: ErrorDetails) {
    super(details.message, { cause: details.cause })
    this.name = 'DroverError'
    this.code = details.code
    this.remedy = details.remedy
    this.host = details.host
    this.step = details.step
    this.detail = details.detail
  }

  at(place: { host?: string; step?: string }): DroverError {
    const host = this.host ?? place.host
    const step = this.step ?? place.step
    return new DroverError({
      code: this.code,
      message: this.message,
      remedy: this.remedy,
      ...(host !== undefined && { host }),
      ...(step !== undefined && { step }),
      ...(this.detail !== undefined && { detail: this.detail }),
      cause: this.cause,
    })
  }
}

/** One fault in a file the user wrote. Lines and columns start at 1. */
export interface InputFault {
  readonly file: string
  readonly line?: number
  readonly column?: number
  readonly message: string
  readonly remedy: string
}

/** All faults of the user's files at once: always exit 5, always before any host is touched. */
export class InputError extends DroverError {
  readonly faults: readonly InputFault[]

  constructor(code: ErrorCode, faults: readonly InputFault[]) {
    const first = faults[0]
    super({
      code,
      message: faults.map(faultLine).join('\n'),
      remedy: first?.remedy ?? 'Correct the file.',
    })
    this.name = 'InputError'
    this.faults = faults
  }
}

const faultLine = (fault: InputFault): string => {
  const where = [fault.file, fault.line, fault.column].filter((part) => part !== undefined).join(':')
  return `${where} ${fault.message}`
}

/** The only road by which an unforeseen exception becomes one of ours. */
export const toDroverError = (thrown: unknown): DroverError =>
  thrown instanceof DroverError
    ? thrown
    : new DroverError({
        code: 'internal',
        message: thrown instanceof Error ? thrown.message : String(thrown),
        remedy: 'This is a fault in drover. Run again with -vv and report what it prints.',
        cause: thrown,
      })
