import type { CliContext } from './context.ts'

export interface Interrupts {
  /** First Ctrl-C: no host is started any more, running segments end. */
  readonly softStop: AbortSignal
  /** Second Ctrl-C: what runs on hosts is stopped. */
  readonly hardStop: AbortSignal
  /** Third: gone at once; what runs on hosts ends by itself. */
  dispose(): void
}

/** Rule E4. */
export const watchInterrupts = (context: CliContext): Interrupts => {
  const soft = new AbortController()
  const hard = new AbortController()
  const say = (text: string): void => context.stderr.write(`drover: ${text}\n`)
  const unsubscribe = context.onInterrupt(() => {
    if (!soft.signal.aborted) {
      say('interrupted: no host is started any more, those under way end what they are doing. Again to stop them.')
      soft.abort()
    } else if (!hard.signal.aborted) {
      say('interrupted again: what runs on the hosts is being stopped. Again to leave at once.')
      hard.abort()
    } else {
      context.exitNow(130)
    }
  })
  return { softStop: soft.signal, hardStop: hard.signal, dispose: unsubscribe }
}
