/** What the apply reports while it works, changes by their number. */
export type ApplyProgress =
  | { readonly type: 'begun' | 'ended'; readonly change: number }
  /** It is no unit of systemd but a process group, and why. */
  | { readonly type: 'grouped'; readonly why: string }

export type ApplyEnd =
  /** All changes made and the unit's own word for it. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'failed'; readonly change: number; readonly code: number; readonly words: string }
  | { readonly kind: 'drifted'; readonly change: number; readonly found: string }
  | { readonly kind: 'cancelled' }
  /** The step of this change used up its time in it. */
  | { readonly kind: 'late'; readonly change: number; readonly words: string }
  /** The host began so long after the look that what was planned is old: by this many seconds. */
  | { readonly kind: 'old'; readonly seconds: number }
  /** The unit ended before its script did: stopped, killed, out of time. `verdict` is systemd's. */
  | { readonly kind: 'broken'; readonly change: number | null; readonly verdict: string; readonly words: string }

export interface ApplyFollower {
  /** Bytes of the apply's output so far. */
  readonly seen: number
  /** For a new connection: the byte of the output where it has to go on. */
  resume(): number
  push(chunk: Uint8Array): void
  end(): ApplyEnd
}

const lastLines = 40
const newline = 0x0a
const empty = Buffer.alloc(0)

/**
 * Reads the unit's output as it comes. What reports is marked with a token that only this apply knows, so no
 * output of a command can pass for a report, of a success or of anything else. A success is the script's own last line and systemd's `exited 0`
 * together: the Result of a stopped or collected unit is always `success` (mechanisms.md 1).
 */
export const followApply = (token: string, onProgress: (progress: ApplyProgress) => void): ApplyFollower => {
  const reportMark = `\x1e${token} `
  /** What came since the last newline. */
  let rest = empty
  let seen = 0
  let current: number | null = null
  let words: string[] = []
  let finished = false
  let verdict = ''
  let end: ApplyEnd | null = null
  const line = (text: string): void => {
    // A command may have left its own last line open before our mark.
    const at = text.indexOf(reportMark)
    if (at < 0) {
      words = [...words, text].slice(-lastLines)
      return
    }
    if (at > 0) words = [...words, text.slice(0, at)].slice(-lastLines)
    const [mark, first = '', second = '', third = ''] = text.slice(at + reportMark.length).split(' ')
    const change = Number(first)
    switch (mark) {
      case 'B':
        current = change
        words = []
        onProgress({ type: 'begun', change })
        break
      case 'D':
        onProgress({ type: 'ended', change })
        break
      case 'F':
        end ??= {
          kind: 'failed',
          change: Number.isNaN(change) ? 0 : change,
          code: Number(second),
          words: words.join('\n'),
        }
        break
      case 'X':
        end ??= { kind: 'drifted', change, found: Buffer.from(second, 'base64').toString('utf8') }
        break
      case 'O':
        end ??= { kind: 'late', change: Number.isNaN(change) ? 0 : change, words: words.join('\n') }
        break
      case 'L':
        end ??= { kind: 'old', seconds: change }
        break
      case 'G':
        onProgress({ type: 'grouped', why: Buffer.from(first, 'base64').toString('utf8') })
        break
      case 'C':
        end ??= { kind: 'cancelled' }
        break
      case 'T':
        finished = true
        break
      case 'R':
        verdict = [first, second, third].join(' ')
        break
    }
  }
  return {
    get seen() {
      return seen
    },
    resume: () => {
      // What looks like the beginning of a report may be one of the verdict, which is no part of the output and comes
      // again: either way it is asked for once more.
      const at = rest.lastIndexOf(0x1e)
      if (at >= 0) {
        seen -= rest.length - at
        rest = rest.subarray(0, at)
      }
      return seen
    },
    push: (chunk) => {
      seen += chunk.length
      rest = Buffer.concat([rest, chunk])
      for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
        line(rest.toString('utf8', 0, end))
        rest = rest.subarray(end + 1)
      }
    },
    end: () => {
      if (rest.length > 0) line(rest.toString('utf8'))
      rest = empty
      if (end !== null) return end
      if (finished && verdict.endsWith(' exited 0')) return { kind: 'complete' }
      return { kind: 'broken', change: current, verdict, words: words.join('\n') }
    },
  }
}
