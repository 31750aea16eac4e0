import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import type { Secret } from '../../secret.ts'
import type { ConnectOptions } from '../connection.ts'
import { createHostKeyCheck } from '../host-keys/host-key-check.ts'
import { keyPlaceOf } from '../host-keys/host-pattern.ts'
import type { KnownHosts } from '../host-keys/known-hosts.ts'
import { parseKnownHosts } from '../host-keys/known-hosts-line.ts'
import { passwordTurn } from '../login/password-turn.ts'
import type { TransportOptions } from '../ssh2/ssh2-transport.ts'
import { createAnswerer } from './answers.ts'
import { masterArguments, maxIdentities } from './arguments.ts'
import { sshEnvironment } from './environment.ts'
import { Master } from './master.ts'
import { MasterWedged, untilOpen } from './open-master.ts'
import { clientOf, type OpenedMaster } from './opened-master.ts'
import type { RunFolder } from './run-folder.ts'

/** What the login at one host has at hand. */
interface LoginNeeds {
  readonly knownHosts: KnownHosts
  readonly password: Secret | undefined
  /** The passphrase of an encrypted key file; undefined: there is none. */
  readonly passphrase: (file: string) => Promise<string | undefined>
  readonly asksForPassphrase: boolean
  /** How many keys ssh-agent would offer besides those that are named. */
  readonly agentKeyCount: number
}

export interface LogInOptions extends ConnectOptions {
  readonly options: TransportOptions
  readonly run: RunFolder
  readonly needs: LoginNeeds
  /** The last jump host, and its process. */
  readonly jump: { readonly name: string; readonly master: OpenedMaster } | undefined
  readonly notify: (message: string) => void
}

const defaultKeepalive = { intervalMs: 15_000, countMax: 3 }

/** An ssh process that is logged in at the host; one that does not answer is replaced once. */
export const logIn = async (host: Host, options: LogInOptions): Promise<OpenedMaster> => {
  try {
    return await attempt(host, options, false)
  } catch (error) {
    if (error instanceof MasterWedged) return attempt(host, options, false)
    // Only now it is known that the host wants a code besides the key, which somebody may have at hand.
    if (isHalfDone(error) && options.options.ask !== undefined && options.needs.password === undefined)
      return attempt(host, options, true)
    throw error
  }
}

const attempt = async (host: Host, login: LogInOptions, asksPerson: boolean): Promise<OpenedMaster> => {
  const { options, run, needs, jump, notify, signal, onStage } = login
  const { deadlines } = options
  const controlPath = run.path('master', host.name)
  const learnFile = host.hostKeyPolicy === 'strict' ? undefined : run.path('learn', host.name)
  const ticket = randomBytes(16).toString('hex')
  const hasPassword = needs.password !== undefined
  const argv = masterArguments({
    host,
    sshConfig: options.sshConfig,
    controlPath,
    keepalive: host.keepalive ?? options.keepalive ?? defaultKeepalive,
    deadlines,
    mayAsk: hasPassword || needs.asksForPassphrase || asksPerson,
    hasPassword,
    identitiesOnly: offersNamedOnly(host, needs),
    learnFile,
    jumpPath: jump?.master.controlPath,
  })
  const env = sshEnvironment({
    base: options.env ?? {},
    hosts: [host, ...host.jump],
    agentSocket: options.agentSocket,
    askpass: { program: run.askpass.program, socket: run.askpass.socket, ticket },
  })
  const master = new Master({ argv, env, controlPath, keeper: run.keeper })
  // Without an answer ssh would send an empty password, so it is ended first.
  const gate = needs.password && passwordTurn(options, host, needs.password, () => master.end(true))
  let asking = 0
  const answer = createAnswerer({
    host,
    password: needs.password,
    mayGive: gate?.enter,
    passphrase: needs.passphrase,
    ask: asksPerson || hasPassword ? options.ask : undefined,
    // Nobody else's: an ssh that a ProxyCommand runs writes to the same log, and asks the same program.
    login: () =>
      [host.address, host.sshOptions?.destination]
        .map((name) => `${host.user}@${name?.toLowerCase()}`)
        .find((login) => login === master.log.login),
  })
  run.askpass.expect(ticket, async (prompt) => {
    asking += 1
    try {
      return await answer(prompt)
    } finally {
      asking -= 1
    }
  })
  try {
    const { address, port } = keyPlaceOf(host)
    const known = needs.knownHosts.about(address, port)
    const isAsking = (): boolean => asking > 0
    const proxy = await untilOpen(master, {
      host,
      via: jump?.name,
      hasPassword,
      known,
      deadlines,
      isAsking,
      signal,
      onStage,
    })
    gate?.end('right')
    const opened = clientOf(master, proxy, jump?.master)
    try {
      if (learnFile !== undefined) await learn(host, learnFile, needs.knownHosts, notify)
    } catch (error) {
      master.end(true)
      throw error
    }
    return opened
  } catch (error) {
    gate?.end(isPasswordRefusal(error) ? 'wrong' : 'unknown')
    throw gate?.refusal() ?? error
  } finally {
    run.askpass.forget(ticket)
    if (learnFile !== undefined) await rm(learnFile, { force: true })
  }
}

/** With more keys than a server takes, those that are named come first, and ssh would offer them last. */
const offersNamedOnly = (host: Host, { agentKeyCount }: LoginNeeds): boolean => {
  const named = Math.min(host.identityFiles.length, maxIdentities)
  const isNamed = host.sshOptions === undefined || host.given?.includes('identityFiles') === true
  return host.identitiesOnly === true || (named > 0 && isNamed && named + agentKeyCount > maxIdentities)
}

/** What ssh accepted without knowing it goes through the same judgement and into the same file as with ssh2. */
const learn = async (
  host: Host,
  file: string,
  knownHosts: KnownHosts,
  notify: (message: string) => void,
): Promise<void> => {
  const { lines } = parseKnownHosts(await readFile(file, 'utf8').catch(() => ''), file)
  const check = createHostKeyCheck(host, knownHosts, notify)
  for (const { blob } of lines) if (!check.verify(blob) && check.refusal !== undefined) throw check.refusal
  await check.record()
}

const isPasswordRefusal = (error: unknown): boolean =>
  error instanceof DroverError && error.code === 'auth-failed' && error.message.includes('refused the password')

const isHalfDone = (error: unknown): boolean =>
  error instanceof DroverError && error.code === 'auth-failed' && error.message.includes('also wants')
