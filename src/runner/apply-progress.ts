/** What the apply unit reports while it works, by change number. */
export type ApplyProgress = { readonly type: 'begun' | 'ended'; readonly change: number }

export type ApplyEnd =
  /** All changes made and the unit's own word for it. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'failed'; readonly change: number; readonly code: number; readonly words: string }
  | { readonly kind: 'drifted'; readonly change: number; readonly found: string }
  | { readonly kind: 'cancelled' }
  /** The unit ended before its script did: stopped, killed, out of time. `verdict` is systemd's. */
  | { readonly kind: 'broken'; readonly change: number | null; readonly verdict: string; readonly words: string }

export interface ApplyFollower {
  push(chunk: Uint8Array): void
  end(): ApplyEnd
}

const lastLines = 40

/**
 * Reads the unit's output as it comes. What reports is marked with a token that only this apply knows, so no
 * output of a command can pass for a report, of a success or of anything else. A success is the script's own last line and systemd's `exited 0`
 * together: the Result of a stopped or collected unit is always `success` (mechanisms.md 1).
 */
export const followApply = (token: string, onProgress: (progress: ApplyProgress) => void): ApplyFollower => {
  const reportMark = `\x1e${token} `
  const decoder = new TextDecoder()
  let rest = ''
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
    push: (chunk) => {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) line(text)
    },
    end: () => {
      if (rest !== '') line(rest)
      rest = ''
      if (end !== null) return end
      if (finished && verdict.endsWith(' exited 0')) return { kind: 'complete' }
      return { kind: 'broken', change: current, verdict, words: words.join('\n') }
    },
  }
}
