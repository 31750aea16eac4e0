import type { Paint, Tone } from '../report/paint.ts'
import { printable } from '../report/printable.ts'

export interface Cell {
  readonly text: string
  readonly tone?: Tone
}

export interface TableLook {
  readonly paint: Paint
  /** Lines are cut to it; null: they are as long as they are. */
  readonly width: number | null
}

/** Aligned columns, two blanks apart. */
export const tableLines = (header: readonly string[], rows: readonly (readonly Cell[])[], { paint, width }: TableLook): readonly string[] => {
  const all = [header.map((text): Cell => ({ text })), ...rows].map((row) => row.map((cell) => ({ ...cell, text: printable(cell.text) })))
  const widths = header.map((_, index) => Math.max(...all.map((row) => length(row[index]?.text ?? ''))))
  return all.map((row) => {
    let room = width ?? Number.POSITIVE_INFINITY
    const parts = row.map((cell, index) => {
      const isLast = index === row.length - 1
      const text = fit(isLast ? cell.text : cell.text + ' '.repeat((widths[index] ?? 0) - length(cell.text) + 2), room)
      room -= length(text)
      // Blanks stay unpainted, so that a cut or a copied line ends where its text does.
      const [, word = '', blanks = ''] = /^(.*?)( *)$/u.exec(text) ?? []
      return (word === '' ? '' : paint(cell.tone ?? 'plain', word)) + blanks
    })
    return parts.join('').trimEnd()
  })
}

const length = (text: string): number => [...text].length

const fit = (text: string, room: number): string => {
  const characters = [...text]
  if (characters.length <= room) return text
  return room < 1 ? '' : `${characters.slice(0, room - 1).join('')}…`
}
