import { printable } from '../printable.ts'
import type { EventSink } from '../runner/events.ts'

export interface LiveLineOptions {
  /** A terminal. */
  readonly write: (text: string) => void
  /** Asked each time: a window may be made smaller. */
  readonly columns: () => number
  readonly now?: () => number
  /** Calls again and again until the returned function is called. */
  readonly every?: (ms: number, call: () => void) => () => void
}

export interface LiveLine {
  readonly take: EventSink
  /** Whole lines, above the live one. */
  readonly write: (text: string) => void
}

/** The last line of a terminal while hosts are waited for: which, for how long, with what. It is never a line of the record. */
export const createLiveLine = ({ write, columns, now = Date.now, every = ticks }: LiveLineOptions): LiveLine => {
  const waiting = new Map<string, { readonly where: string; readonly since: number }>()
  let stop: (() => void) | null = null
  let isShown = false

  const text = (): string => {
    const [longest, ...others] = [...waiting].sort(([, one], [, other]) => one.since - other.since)
    if (longest === undefined) return ''
    const [host, { where, since }] = longest
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    const line = `${printable(host)}: ${Math.round((now() - since) / 1000)} s in ${printable(where)}`
    return line.slice(0, Math.max(0, columns() - more.length - 1)) + more
  }
  // Ends at the beginning of its line, so that what others write there goes over it.
  const draw = (): void => {
    const line = text()
    if (line === '' && !isShown) return
    write(`\r\x1b[K${line}${line === '' ? '' : '\r'}`)
    isShown = line !== ''
  }
  const set = (host: string, wait: { where: string; since: number } | null): void => {
    if (wait === null) waiting.delete(host)
    else waiting.set(host, wait)
    if (waiting.size > 0) stop ??= every(1000, draw)
    else {
      stop?.()
      stop = null
    }
    draw()
  }

  return {
    take: (event) => {
      switch (event.type) {
        case 'host-stalled':
          set(event.host, { where: event.where, since: now() - event.silentMs })
          return
        case 'change-started':
          if (event.waitMs !== undefined) set(event.host, { where: `${event.step}: ${event.summary}`, since: now() })
          return
        case 'host-moving':
        case 'change-done':
        case 'change-failed':
        case 'host-ended':
          if (waiting.has(event.host)) set(event.host, null)
          return
        default:
      }
    },
    write: (lines) => {
      if (isShown) write('\r\x1b[K')
      isShown = false
      write(lines)
      draw()
    },
  }
}

const ticks = (ms: number, call: () => void): (() => void) => {
  const timer = setInterval(call, ms)
  timer.unref()
  return () => clearInterval(timer)
}
