import type { ZodType } from 'zod'
import { z } from 'zod'
import type { ShapeFault } from '../inventory/check-shape.ts'
import { checkShape } from '../inventory/check-shape.ts'
import type { VarValue } from '../inventory/host.ts'
import { Secret } from '../secret.ts'
import { holdsReference, unescaped } from './reference.ts'
import type { Value } from './value.ts'
import { member } from './value.ts'

/** All that a playbook needs of the registry of tasks. */
export type Tasks = ReadonlyMap<string, { readonly params: ZodType }>

/** Parameters that a task would drop in silence are a fault, whether or not its author thought of it. */
const strict = (schema: ZodType): ZodType =>
  schema instanceof z.ZodObject && schema.def.catchall === undefined ? schema.strict() : schema

const objectOf = (schema: unknown): z.ZodObject | undefined => {
  if (schema instanceof z.ZodPipe) return objectOf(schema.in)
  return schema instanceof z.ZodObject ? schema : undefined
}

/** What can be said before any variable is known: nothing about the parameters that a variable stands in. */
export const checkTemplate = (params: ZodType, template: Readonly<Record<string, VarValue>>): ShapeFault[] => {
  const open = Object.keys(template).filter((key) => holdsReference(template[key] ?? null))
  const value = Object.fromEntries(
    Object.entries(template).map(([key, inner]) => [key, open.includes(key) ? inner : unescaped(inner)]),
  )
  if (open.length === 0) return parseParams(params, value).faults
  const object = objectOf(params)
  if (object === undefined) return []
  const unknowns = open.filter((key) => Object.hasOwn(object.shape, key)).map((key) => [key, z.unknown()] as const)
  // A new object, so that rules between several parameters wait until all of them are known.
  const shape = z.object({ ...object.shape, ...Object.fromEntries(unknowns) })
  const { catchall } = object.def
  return parseParams(catchall === undefined ? shape : shape.catchall(catchall), value).faults
}

export const parseParams = (
  params: ZodType,
  value: Value,
): { readonly value?: unknown; readonly faults: ShapeFault[] } => {
  const result = checkShape(strict(params), value)
  if (result.faults.length === 0) return { value: result.value, faults: [] }
  return { faults: result.faults.map((fault) => named(fault, value)) }
}

/** A fault that names its parameter, since what is missing has no place of its own in the file. */
const named = (fault: ShapeFault, value: Value): ShapeFault => {
  if ('key' in fault) return fault
  const at = fault.path.reduce<Value | undefined>((inner, step) => inner && member(inner, String(step)), value)
  const what = fault.path.length === 0 ? '' : `${fault.path.join('.')}: `
  if (!(at instanceof Secret)) return { ...fault, message: `${what}${fault.message}` }
  return {
    path: fault.path,
    message: `${what}This secret does not fit here.`,
    remedy: 'See drover tasks for what the parameter takes.',
  }
}
