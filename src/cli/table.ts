import { printable } from '../printable.ts'
import type { Paint, Tone } from '../report/paint.ts'

export interface Cell {
  readonly text: string
  readonly tone?: Tone
}

export interface TableLook {
  readonly paint: Paint
  /** No line is longer; null: they are as long as they are. */
  readonly width: number | null
}

const gap = 2
const narrowest = 8

/** Aligned columns. Where the terminal is too narrow, the widest give way first, so that short ones stay whole. */
export const tableLines = (
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  { paint, width }: TableLook,
): readonly string[] => {
  const all = [header.map((text): Cell => ({ text })), ...rows].map((row) =>
    row.map((cell) => ({ ...cell, text: printable(cell.text) })),
  )
  const natural = header.map((_, index) => Math.max(...all.map((row) => length(row[index]?.text ?? ''))))
  const widths = width === null ? natural : squeezed(natural, width)
  return all.map((row) => {
    let room = width ?? Number.POSITIVE_INFINITY
    const parts = row.map(({ text, tone = 'plain' }, index) => {
      const space = widths[index] ?? 0
      const shown = cut(cut(text, space), room)
      const blanks = ' '.repeat(space - length(shown) + gap)
      room -= length(shown) + blanks.length
      // Blanks stay unpainted, so that a copied line ends where its text does.
      return (shown === '' ? '' : paint(tone, shown)) + blanks
    })
    return parts.join('').trimEnd()
  })
}

const squeezed = (natural: readonly number[], width: number): readonly number[] => {
  const widths = [...natural]
  let excess = widths.reduce((sum, each) => sum + each + gap, -gap) - width
  for (; excess > 0; excess -= 1) {
    const widest = widths.indexOf(Math.max(...widths))
    const least = widths[widest] ?? 0
    if (least <= narrowest) break
    widths[widest] = least - 1
  }
  return widths
}

const length = (text: string): number => [...text].length

const cut = (text: string, room: number): string => {
  const characters = [...text]
  if (characters.length <= room) return text
  return room < 1 ? '' : `${characters.slice(0, room - 1).join('')}…`
}
