import { shellSource } from '../facts/shell-source.ts'

const parts = {
  /** What undoes a group, but for the list of it. */
  undo: ['rollback/marks', 'rollback/places', 'rollback/units', 'rollback/worker', 'rollback/fire'],
  confirm: ['rollback/marks', 'rollback/decide', 'rollback/confirm'],
  'fire-now': ['apply/control', 'rollback/marks', 'rollback/decide', 'rollback/fire-now'],
} as const

/** The scripts around an armed rollback, each with the functions it needs. */
export const rollbackSource = (name: keyof typeof parts): string =>
  parts[name].map((part) => shellSource(new URL(`./${part}.sh`, import.meta.url))).join('')
