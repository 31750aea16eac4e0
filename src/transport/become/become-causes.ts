import type { Host } from '../../inventory/host.ts'
import { printable } from '../../printable.ts'
import type { Become } from './become.ts'

export interface Becoming {
  readonly host: Pick<Host, 'name' | 'user'>
  readonly become: Become
  /** The command was given a terminal. */
  readonly terminal: boolean
  /** Whose password was typed; undefined: none was. */
  readonly answeredFor: string | undefined
}

interface Cause {
  readonly method?: Become['method']
  readonly said: RegExp
  readonly failure: (becoming: Becoming) => Failure
}

export interface Failure {
  readonly message: string
  readonly remedy: string
}

export const refused = (host: string, user: string): Failure => ({
  message: `sudo on ${host} refused the password of ${printable(user)}.`,
  remedy:
    'Give the right one: -K, --become-password-file, DROVER_BECOME_PASSWORD, or `become_password` in the inventory. ' +
    'drover tries it once, so that no account is locked.',
})

export const needsTerminal = ({ host }: Becoming): Failure => ({
  message: `sudo on ${host.name} runs only on a terminal (requiretty).`,
  remedy: `Write \`Defaults:${host.user} !requiretty\` into its sudoers.`,
})

const rule = ({ host }: Becoming): string =>
  `Give the user a rule that covers /bin/sh, such as \`${host.user} ALL=(root) ALL\` or \`${host.user} ALL=(root) NOPASSWD: ALL\`; see \`sudo -l\`.`

/** The words of the sudo and doas of Debian 12 and 13 and of sudo-rs. In this order: the reason before what sudo adds to every failure, such as `a password is required`. */
export const becomeCauses: readonly Cause[] = [
  { said: /must have a tty/, failure: needsTerminal },
  {
    method: 'sudo',
    said: /env: .*script.*No such file/,
    failure: (becoming) => ({
      message: `sudo on ${becoming.host.name} runs only on a terminal (requiretty), and there is no script(1) to make one.`,
      remedy: `${needsTerminal(becoming).remedy} Or install script, a part of util-linux.`,
    }),
  },
  {
    said: /env: .*\b(sudo|doas)\b.*No such file|exec: env: not found/,
    failure: ({ host, become }) => ({
      message: `There is no ${become.method} on ${host.name}, or not in the PATH of ${host.user}.`,
      remedy:
        `Install it, name the other one (\`become_method: ${become.method === 'sudo' ? 'doas' : 'sudo'}\`), ` +
        'or log in as root without it (`become: false`).',
    }),
  },
  {
    method: 'sudo',
    said: /account validation failure|password is expired|Account expired|account management error|expired password/i,
    failure: ({ host }) => ({
      message: `sudo on ${host.name} does not let ${host.user} in: the account or its password has expired, or is locked.`,
      remedy: `Look at \`chage -l ${host.user}\` and \`passwd -S ${host.user}\` there; log in by hand to set a new password.`,
    }),
  },
  {
    method: 'sudo',
    said: /incorrect password attempt|Authentication failed/i,
    failure: ({ host, answeredFor }) => refused(host.name, answeredFor ?? host.user),
  },
  {
    method: 'sudo',
    said: /is not allowed to execute/,
    failure: (becoming) => ({
      message: `sudo on ${becoming.host.name} does not allow ${becoming.host.user} to run /bin/sh as root.`,
      remedy: rule(becoming),
    }),
  },
  {
    method: 'sudo',
    said: /not in the sudoers file|may not run sudo on|I'm afraid I can't do that/,
    failure: (becoming) => ({
      message: `sudo on ${becoming.host.name} has no rule that lets ${becoming.host.user} become root.`,
      remedy: rule(becoming),
    }),
  },
  {
    method: 'sudo',
    said: /a password is required|authentication is required|a terminal is required|no password was provided/i,
    failure: (becoming) =>
      becoming.answeredFor === undefined
        ? {
            message: `sudo on ${becoming.host.name} wants a password of ${becoming.host.user}, and none was given.`,
            remedy:
              'Give it with -K, --become-password-file or DROVER_BECOME_PASSWORD, or let the user become root without: ' +
              `\`${becoming.host.user} ALL=(root) NOPASSWD: ALL\`.`,
          }
        : refused(becoming.host.name, becoming.answeredFor),
  },
  {
    method: 'sudo',
    said: /must be owned by uid 0|effective uid is not 0|nosuid|no new privileges/i,
    failure: ({ host }) => ({
      message: `sudo on ${host.name} has no root rights itself: it is not setuid root there, or may not be.`,
      remedy:
        'See `ls -l $(command -v sudo)` (mode 4755, root), whether its file system is mounted nosuid, and whether the ' +
        'login runs with "no new privileges".',
    }),
  },
  {
    method: 'sudo',
    said: /error initializing|no valid sudoers|unable to (initialize|open|create|write).*(plugin|log|I\/O)|sudoers.*(world writable|owned by|syntax error)|parse error/,
    failure: ({ host }) => ({
      message: `sudo on ${host.name} cannot start because of its own configuration or log.`,
      remedy:
        'As root on the host, run `visudo -c`, and see the owner and mode of /etc/sudoers and the space for its logs.',
    }),
  },
  {
    method: 'sudo',
    said: /do not exist in the passwd database|unknown uid/,
    failure: ({ host }) => ({
      message: `sudo on ${host.name} does not find ${host.user} among the users.`,
      remedy: 'See what `getent passwd USER` says there: the directory service may not answer.',
    }),
  },
  {
    method: 'doas',
    said: /Authentication required/i,
    failure: ({ host, become }) => ({
      message: `doas on ${host.name} wants a password of ${host.user}${become.password === undefined ? '' : ', and drover types none into it'}.`,
      remedy: `doas asks in its own words, which drover does not answer. Write \`permit nopass ${host.user}\` into /etc/doas.conf.`,
    }),
  },
  {
    method: 'doas',
    said: /doas is not enabled|doas: syntax error|not installed setuid|not permitted/i,
    failure: ({ host }) => ({
      message: `doas on ${host.name} has no rule that lets ${host.user} become root, or cannot read its rules.`,
      remedy: `Write \`permit nopass ${host.user}\` into /etc/doas.conf, and run \`doas -C /etc/doas.conf\` as root there.`,
    }),
  },
]
