import { styleText } from 'node:util'

/** What a piece of text means; the colours are Ansible's. */
export type Tone = 'good' | 'changed' | 'bad' | 'skipped' | 'warning' | 'plain'

export type Paint = (tone: Tone, text: string) => string

const styles = {
  good: 'green',
  changed: 'yellow',
  bad: 'red',
  skipped: 'cyan',
  warning: 'magentaBright',
  plain: 'reset',
} as const

/** Whether there is colour is the caller's decision, so the stream is not asked. */
export const createPaint = (colour: boolean): Paint =>
  colour
    ? (tone, text) => (tone === 'plain' ? text : styleText(styles[tone], text, { validateStream: false }))
    : (_tone, text) => text

/** How lines for people are made. */
export interface Look {
  readonly paint: Paint
  /** How often -v was given. */
  readonly verbose: number
  /** -D: show diffs. */
  readonly diff: boolean
}

/** Ansible's headings: filled with stars to 79 columns. */
export const banner = (title: string): string => `${title} ${'*'.repeat(Math.max(3, 79 - title.length - 1))}`

export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  return `${Math.floor(seconds / 60)} min ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`
}

/** `1 host`, `3 hosts`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
