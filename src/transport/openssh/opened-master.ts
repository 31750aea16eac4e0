import { DroverError } from '../../errors.ts'
import type { OpenedClient } from '../ssh2/ssh2-client.ts'
import { isMasterAlive, type ProxySocket } from './control-socket.ts'
import type { Master } from './master.ts'
import { MuxClient } from './mux-client.ts'

/** A connection over an ssh process, and where others can go through it. */
export interface OpenedMaster extends OpenedClient {
  readonly controlPath: string
  /** Answers; or is ended, and gone when this is told: a stopped process must not hold up all who would go through it. */
  isAlive(): Promise<boolean>
}

const aliveMs = 3_000

/**
 * A logged-in ssh process as a client that can run commands. Of two processes that a dead jump host ends, either may be
 * seen to end first: the loss is told when it is known what became of the jump host.
 */
export const clientOf = (master: Master, proxy: ProxySocket, jump?: Pick<OpenedMaster, 'isAlive'>): OpenedMaster => {
  const closed = new AbortController()
  const { log, controlPath } = master
  const saidBefore = log.words.length
  const gone = new Promise<void>((resolve) => closed.signal.addEventListener('abort', () => resolve(), { once: true }))
  let isEnded = false
  const client = new MuxClient(proxy, (isForced) => {
    isEnded = true
    master.end(isForced)
  })
  const lose = (): void => {
    const why = isEnded ? undefined : lastReason(log.words.slice(saidBefore))
    if (why !== undefined) client.emit('error', new Error(why))
    closed.abort()
    client.lose()
  }
  const onGone = (): void => {
    if (isEnded || jump === undefined) lose()
    else void jump.isAlive().finally(lose)
  }
  if (master.gone.aborted) onGone()
  else master.gone.addEventListener('abort', onGone, { once: true })
  // Without it the process is of no use. Its own end comes first where it has a reason to give.
  proxy.socket.on('error', () => undefined)
  proxy.socket.on('close', () => master.end())
  return {
    client,
    controlPath,
    socket: proxy.socket,
    serverVersion: log.version,
    closed: closed.signal,
    isAlive: async () => {
      if (!closed.signal.aborted && (await isMasterAlive(controlPath, aliveMs))) return true
      master.end(true)
      await gone
      return false
    },
  }
}

const lastReason = (words: readonly string[]): string | undefined => {
  const reason = words.find((word) => /^Timeout, server|closed by|reset by|disconnect|Broken pipe/i.test(word))
  return (reason ?? words.at(-1))?.replace(/\.$/, '')
}

const isOpenedMaster = (opened: OpenedClient): opened is OpenedMaster => 'controlPath' in opened

/** The pool of jump hosts knows them as any client. */
export const masterIn = (opened: OpenedClient): OpenedMaster => {
  if (isOpenedMaster(opened)) return opened
  throw new DroverError({
    code: 'internal',
    message: 'A jump host is not connected by the client that wants to go through it.',
    remedy: 'This is a fault in drover. Report it.',
  })
}
