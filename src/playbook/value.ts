import type { VarValue } from '../inventory/host.ts'
import { Secret } from '../secret.ts'

/** What a variable comes to: data, and secrets anywhere in it. */
export type Value = VarValue | Secret | readonly Value[] | { readonly [key: string]: Value }

export const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value)

export const isMap = (value: Value | undefined): value is { readonly [key: string]: Value } =>
  typeof value === 'object' && value !== null && !isList(value) && !(value instanceof Secret)

/** Own keys and places only: nothing that a prototype has is ever a part of a variable. */
export const member = (value: Value, step: string): Value | undefined => {
  if (isList(value)) return /^(?:0|[1-9]\d{0,8})$/.test(step) ? value[Number(step)] : undefined
  return isMap(value) && Object.hasOwn(value, step) ? value[step] : undefined
}

/** For messages: the kind and never the value. */
export const kindOf = (value: Value): string => {
  if (value === null) return 'nothing (null)'
  if (value instanceof Secret) return 'a secret'
  if (isList(value)) return 'a list'
  if (isMap(value)) return 'a mapping'
  return typeof value === 'string' ? 'a text' : typeof value === 'number' ? 'a number' : 'true or false'
}

/**
 * Equal values have equal keys, unequal ones never. Long texts are numbered, not copied: a thousand hosts may
 * share a megabyte.
 */
export const valueKeys = (): ((value: Value) => string) => {
  const numbers = new Map<string | Secret, number>()
  const numberOf = (value: string | Secret): number => {
    const number = numbers.get(value) ?? numbers.size
    numbers.set(value, number)
    return number
  }
  const key = (value: Value): string => {
    if (typeof value === 'string' || value instanceof Secret) return `#${numberOf(value)}`
    if (isList(value)) return `[${value.map(key).join(' ')}]`
    if (isMap(value))
      return `{${Object.entries(value)
        .map(([name, inner]) => `${key(name)} ${key(inner)}`)
        .join(' ')}}`
    return String(value)
  }
  return key
}
