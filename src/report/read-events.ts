import { createReadStream } from 'node:fs'
import { DroverError } from '../errors.ts'
import type { RunEvent } from '../runner/events.ts'

/** The events of a journal. A last line without its newline was cut off by a crash and is left out. */
export async function* readEvents(file: string): AsyncGenerator<RunEvent> {
  let number = 0
  try {
    for await (const line of lines(file)) {
      number += 1
      yield parsed(line)
    }
  } catch (thrown) {
    throw new DroverError({
      code: 'usage',
      message: `The journal ${file} cannot be read${number > 0 ? `, line ${number}` : ''}.`,
      remedy: 'Name a run whose events.ndjson is whole; .drover/runs holds them.',
      detail: thrown instanceof Error ? thrown.message : String(thrown),
      cause: thrown,
    })
  }
}

// Not node:readline: it also splits at U+2028, which JSON may hold bare.
async function* lines(file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(file, { encoding: 'utf8' })) {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
  }
}

const parsed = (line: string): RunEvent => {
  const value: unknown = JSON.parse(line)
  const isEvent = typeof value === 'object' && value !== null && 'type' in value && 'at' in value
  if (!isEvent) throw new Error('This line is no event.')
  return value as RunEvent
}
