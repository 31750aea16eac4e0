import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { abortError } from '../cancelled.ts'
import type { ConnectOptions, StageDeadlines } from '../connection.ts'
import { startDeadline } from '../deadline.ts'
import { handshakeTimeout } from '../ssh2/handshake-errors.ts'
import { unresolved } from '../ssh2/resolve.ts'
import type { ProxySocket } from './control-socket.ts'
import { openProxy } from './control-socket.ts'
import { loginTimeout } from './login-errors.ts'
import type { Master } from './master.ts'
import { connectTimeout, type FailureFacts, masterError } from './master-errors.ts'
import type { MasterStage } from './master-log.ts'

/** A name may have several addresses, and each has its time; but they do not add up without end. */
const mostAddresses = 3
// ssh gives up on an address by itself, and then takes the next: it gets the chance to.
const headStartMs = 500
const controlMs = 5_000
// Reading the configuration, whose `Match exec` may run programs, on a machine that starts many at once.
const startMs = 20_000

export interface UntilOpenOptions extends ConnectOptions, Omit<FailureFacts, 'log' | 'connectMs' | 'handshakeMs'> {
  readonly deadlines: StageDeadlines
  /** A person is being asked something, and the server is not to blame for the time. */
  readonly isAsking: () => boolean
}

/** The process stands and is connected, and does not answer on its control socket. */
export class MasterWedged extends DroverError {}

/** Waits until ssh has logged in. Each stage has a deadline of its own; the process is ended if it does not come about. */
export const untilOpen = async (master: Master, options: UntilOpenOptions): Promise<ProxySocket> => {
  await untilLoggedIn(master, options)
  try {
    return await openProxy(master.controlPath, controlMs)
  } catch (error) {
    master.end(true)
    throw new MasterWedged({
      code: 'channel-failed',
      message: `The ssh process for ${options.host.address} port ${options.host.port} does not answer: ${(error as Error).message}.`,
      remedy: 'Run again; if it comes again, take the other client with --transport ssh2.',
      cause: error,
    })
  }
}

const untilLoggedIn = (master: Master, options: UntilOpenOptions): Promise<void> => {
  const { deadlines, isAsking, signal, onStage } = options
  const { log } = master
  const facts: FailureFacts = { ...options, log, connectMs: deadlines.connectMs, handshakeMs: deadlines.handshakeMs }
  return new Promise((resolve, reject) => {
    let stage: MasterStage = log.stage
    let tried = 0
    let isSettled = false
    const settle = (finish: () => void): void => {
      if (isSettled) return
      isSettled = true
      clearDeadline()
      signal?.removeEventListener('abort', onAbort)
      finish()
    }
    const fail = (error: DroverError): void =>
      settle(() => {
        master.end(true)
        reject(error)
      })
    const onAbort = (): void => signal && fail(abortError(signal))
    const onLate = (): void => {
      if (stage === 'authenticate' && isAsking()) clearDeadline = startDeadline(deadlines.authMs, onLate)
      else fail(lateError(stage, facts, deadlines))
    }
    const arm = (): (() => void) => startDeadline(patience(stage, deadlines), onLate)
    let clearDeadline = arm()
    const look = (): void => {
      if (isSettled) return
      const isNext = log.stage === 'connect' && log.tried > tried && log.tried <= mostAddresses
      if (log.stage === stage && !isNext) return
      if (log.stage !== stage && log.stage !== 'open' && log.stage !== 'start') onStage?.(log.stage)
      stage = log.stage
      tried = log.tried
      clearDeadline()
      if (stage !== 'open') clearDeadline = arm()
      // A banner could have said so; the socket is there only if ssh has.
      else if (master.hasSocket) settle(resolve)
      else clearDeadline = startDeadline(deadlines.authMs, () => (master.hasSocket ? settle(resolve) : onLate()))
    }
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    master.onLog(look)
    const onGone = (): void => fail(master.failure === undefined ? masterError(facts) : noClient(master.failure))
    if (master.gone.aborted) onGone()
    else master.gone.addEventListener('abort', onGone, { once: true })
  })
}

const patience = (stage: MasterStage, deadlines: StageDeadlines): number =>
  ({
    start: startMs,
    resolve: deadlines.resolveMs,
    connect: deadlines.connectMs + headStartMs,
    handshake: deadlines.handshakeMs,
    authenticate: deadlines.authMs,
    open: deadlines.authMs,
  })[stage]

const lateError = (stage: MasterStage, facts: FailureFacts, deadlines: StageDeadlines): DroverError => {
  const { host } = facts
  if (stage === 'start') return notBegun(host)
  if (stage === 'resolve') return unresolved(host, `no answer within ${deadlines.resolveMs} ms`)
  if (stage === 'connect') return connectTimeout(facts, deadlines.connectMs)
  if (stage === 'handshake') return handshakeTimeout(host, deadlines.handshakeMs, facts.log.version !== '')
  return loginTimeout(facts, deadlines.authMs)
}

const notBegun = (host: Host): DroverError =>
  new DroverError({
    code: 'connect-timeout',
    message: `The ssh process for ${host.address} port ${host.port} did not begin to connect within ${startMs} ms.`,
    remedy: 'See what holds it up: this machine may be overloaded, or a `Match exec` of its ssh_config does not end.',
  })

export const noClient = (cause: NodeJS.ErrnoException): DroverError =>
  new DroverError({
    code: 'ssh-client-unusable',
    message: `The ssh client of this machine cannot be started: ${cause.code ?? cause.message}.`,
    remedy: 'Install OpenSSH (openssh-client, openssh-clients), or take the other client with --transport ssh2.',
    cause,
  })
