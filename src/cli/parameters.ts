import { z } from 'zod'
import { Secret } from '../secret.ts'

export interface Parameter {
  readonly name: string
  /** In words: `text`, `whole number 1 to 3600`, `heal or never`. */
  readonly type: string
  readonly isRequired: boolean
  /** As YAML can be written on one line; absent where there is none. */
  readonly default?: string
  readonly description: string
}

type JsonSchema = z.core.JSONSchema.BaseSchema

/** The parameters of a task as its schema has them. */
export const parametersOf = (schema: z.ZodType): readonly Parameter[] => {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'custom' && z.safeParse(zodSchema, new Secret('')).success)
        jsonSchema.title = 'secret'
    },
  })
  const required = json.required ?? []
  return Object.entries(json.properties ?? {}).map(([name, property]) => {
    const { default: fallback, description = '', ...rest } = schemaOf(property)
    return {
      name,
      type: typeOf(rest),
      isRequired: required.includes(name),
      ...(fallback !== undefined && { default: JSON.stringify(fallback) }),
      description,
    }
  })
}

const schemaOf = (schema: JsonSchema | boolean): JsonSchema => (typeof schema === 'boolean' ? {} : schema)

const typeOf = (schema: JsonSchema): string => {
  const { enum: words, const: only, anyOf, type } = schema
  if (only !== undefined) return String(only)
  if (words !== undefined) return oneOf(words.map(String))
  if (anyOf !== undefined) return oneOf(anyOf.map((inner) => typeOf(schemaOf(inner))))
  if (Array.isArray(type)) return oneOf(type.map((one) => typeOf({ ...schema, type: one })))
  switch (type) {
    case 'string':
      return 'text'
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    case 'array':
      return `list of ${typeOf(schemaOf((Array.isArray(schema.items) ? schema.items[0] : schema.items) ?? {}))}`
    case 'object':
      return 'mapping'
    default:
      return schema.title ?? 'any value'
  }
}

const numberOf = ({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): string => {
  const noun = type === 'integer' ? 'whole number' : 'number'
  // Zod bounds every integer by what a double can hold, which says nothing.
  const isBound = (value: unknown): value is number =>
    typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
  const from = isBound(minimum) ? String(minimum) : isBound(exclusiveMinimum) ? `above ${exclusiveMinimum}` : ''
  const to = isBound(maximum) ? String(maximum) : isBound(exclusiveMaximum) ? `below ${exclusiveMaximum}` : ''
  if (from !== '' && to !== '') return `${noun} ${from} to ${to}`
  if (from !== '') return `${noun} from ${from}`
  return to === '' ? noun : `${noun} up to ${to}`
}

const oneOf = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? 'any value') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
