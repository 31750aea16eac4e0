import type { AnyAuthMethod, AuthHandlerMiddleware } from 'ssh2'
import type { Host } from '../../inventory/host.ts'
import type { Secret } from '../../secret.ts'
import type { Ask } from './ask.ts'
import type { Credential } from './credentials.ts'
import { createKeyboard } from './keyboard.ts'
import type { PasswordGate, PasswordRefusal, PasswordTry } from './password-gate.ts'

/** Why a login goes no further although the server might take more. */
export type LoginStop =
  | { readonly kind: 'refused-elsewhere'; readonly refusedBy: readonly string[] }
  /** A question that is not for a password, and nobody to answer it. */
  | { readonly kind: 'unanswered'; readonly question: string }
  | { readonly kind: 'password-expired'; readonly words: string }
  | { readonly kind: 'endless' }
  | { readonly kind: 'failed'; readonly error: Error }

export interface AuthAttemptOptions {
  readonly host: Host
  readonly offers: readonly Credential[]
  readonly password?: { readonly secret: Secret; readonly gate: PasswordGate } | undefined
  readonly ask?: Ask | undefined
  /** What else the error should name: keys that were found and are not offered, and why. */
  readonly notOffered?: readonly string[]
}

interface AuthWatcher {
  /** The login is over on our side: `stop` says why. */
  onStop(): void
  /** Somebody is waited for, and the server is not to blame for the time. */
  onPause(isPaused: boolean): void
}

/** One login: what is offered next, and what happened, for the error message. */
export interface AuthAttempt {
  readonly handler: AuthHandlerMiddleware
  readonly offered: readonly Credential[]
  readonly notOffered: readonly string[]
  /** What the server would still take; empty until it has refused something. */
  readonly serverMethods: readonly string[]
  /** Something was right, and the server wants more. */
  readonly isPartial: boolean
  readonly password: 'none' | 'unsent' | 'sent' | 'refused' | 'accepted'
  readonly stop: LoginStop | undefined
  /** What was offered last. */
  readonly last: Credential | 'password' | undefined
  watch(watcher: AuthWatcher): void
  passwordExpired(words: string): void
  /** How it ended. Only the first word counts. */
  end(how: 'in' | 'refused' | 'lost'): void
}

/**
 * Offers each key once, then the password once, and answers what a second factor asks. There is no probe with `none`
 * unless there is no key to begin with: it costs a round trip.
 */
export const createAuthAttempt = (options: AuthAttemptOptions): AuthAttempt => {
  const { host, offers, password, ask, notOffered = [] } = options
  const offered: Credential[] = []
  const over = new AbortController()
  let watcher: AuthWatcher = { onStop: () => undefined, onPause: () => undefined }
  let serverMethods: readonly string[] = []
  let isPartial = false
  let last: AuthAttempt['last']
  let stop: LoginStop | undefined
  let state: AuthAttempt['password'] = password === undefined ? 'none' : 'unsent'
  let passwordTry: PasswordTry | undefined
  let hasUsedKeyboard = false
  /** It asked for something else as well, so a refusal may be about that. */
  let hasAskedMore = false

  const stopWith = (reason: LoginStop): void => {
    if (stop !== undefined || over.signal.aborted) return
    stop = reason
    passwordTry?.(reason.kind === 'password-expired' ? 'right' : 'unknown')
    over.abort()
    watcher.onStop()
  }

  /** The password, when it is this host's turn to send it; null: the login is over. */
  const takePassword = async (): Promise<string | null> => {
    if (password === undefined || state !== 'unsent') return null
    const entered: PasswordTry | PasswordRefusal = await paused(password.gate.enter(host, over.signal))
    if (typeof entered !== 'function') {
      stopWith({ kind: 'refused-elsewhere', ...entered })
      return null
    }
    passwordTry = entered
    state = 'sent'
    last = 'password'
    return password.secret.reveal()
  }

  const paused = async <T>(waiting: Promise<T>): Promise<T> => {
    watcher.onPause(true)
    try {
      return await waiting
    } finally {
      watcher.onPause(false)
    }
  }

  const keyboard = createKeyboard({
    host,
    hasPassword: () => state === 'unsent',
    takePassword,
    ask: ask && ((question) => paused(ask({ ...question, signal: over.signal }))),
    onQuestion: () => {
      hasAskedMore = true
    },
    stop: stopWith,
  })

  const judgePassword = (partial: boolean): void => {
    if (state !== 'sent') return
    state = partial ? 'accepted' : 'refused'
    passwordTry?.(partial ? 'right' : hasAskedMore ? 'unknown' : 'wrong')
  }

  const next = (takes: (method: string) => boolean, isFirst: boolean): AnyAuthMethod | 'password' | false => {
    const credential = offers[offered.length]
    if (credential !== undefined && takes('publickey')) {
      offered.push(credential)
      last = credential
      return { type: 'publickey', username: host.user, key: credential.key }
    }
    if (isFirst) return { type: 'none', username: host.user }
    // Without a password only a second factor is asked for: else each host would ask for its own.
    if (!hasUsedKeyboard && takes('keyboard-interactive') && (state === 'unsent' || isPartial)) {
      hasUsedKeyboard = true
      return { type: 'keyboard-interactive', username: host.user, prompt: keyboard }
    }
    return state === 'unsent' && takes('password') ? 'password' : false
  }

  const handler = (
    methodsLeft: readonly string[] | null,
    partial: boolean | null,
    proceed: (method: AnyAuthMethod) => void,
  ): AnyAuthMethod | false | undefined => {
    if (stop !== undefined) return false
    judgePassword(partial === true)
    serverMethods = methodsLeft ?? []
    isPartial ||= partial === true
    const method = next((name) => methodsLeft === null || methodsLeft.includes(name), methodsLeft === null)
    if (method !== 'password') return method
    takePassword().then(
      (secret) => {
        if (secret !== null) proceed({ type: 'password', username: host.user, password: secret })
      },
      (error: Error) => stopWith({ kind: 'failed', error }),
    )
    return undefined
  }

  return {
    // The types of ssh2 know neither the null of the first call nor the result that ends the login.
    handler: handler as unknown as AuthHandlerMiddleware,
    offered,
    notOffered,
    get serverMethods() {
      return serverMethods
    },
    get isPartial() {
      return isPartial
    },
    get password() {
      return state
    },
    get stop() {
      return stop
    },
    get last() {
      return last
    },
    watch: (next) => {
      watcher = next
    },
    passwordExpired: (words) => stopWith({ kind: 'password-expired', words }),
    end: (how) => {
      if (how !== 'lost') judgePassword(how === 'in')
      passwordTry?.('unknown')
      over.abort()
    },
  }
}
