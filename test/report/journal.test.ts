import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openJournal } from '../../src/report/journal.ts'
import { readEvents } from '../../src/report/read-events.ts'
import type { RunEvent } from '../../src/runner/events.ts'
import { anyStream, reportOf, stamped } from './streams.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-journal-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const notice = (message: string): RunEvent => stamped({ type: 'notice', host: null, message })
const fresh = (): string => join(mkdtempSync(join(directory, 'run-')), 'events.ndjson')
const read = async (file: string): Promise<RunEvent[]> => {
  const events: RunEvent[] = []
  for await (const event of readEvents(file)) events.push(event)
  return events
}
const noError = (error: Error): void => expect.unreachable(error.message)

describe('journal', () => {
  test('what was taken is in the file before take returns, readable by its owner alone', async () => {
    const file = fresh()
    const journal = openJournal(file, noError)
    journal.take(notice('one'))
    expect(readFileSync(file, 'utf8')).toBe(
      '{"at":"2026-08-24T10:12:00.000Z","type":"notice","host":null,"message":"one"}\n',
    )
    expect(statSync(file).mode & 0o777).toBe(0o600)
    await journal.close()
  })

  test('reads back as it was written, and to the same report', async () => {
    await fc.assert(
      fc.asyncProperty(anyStream, async ({ events }) => {
        const file = fresh()
        const journal = openJournal(file, noError)
        events.forEach(journal.take)
        await journal.close()
        const back = await read(file)
        expect(back).toEqual(JSON.parse(JSON.stringify(events)))
        expect(reportOf(back)).toEqual(reportOf(events))
      }),
      { numRuns: 30 },
    )
  })

  test('line separators of Unicode and characters across chunks do not break a line', async () => {
    const file = fresh()
    const event = notice(`a\u2028b\u0085${'ä€😀'.repeat(40_000)}`)
    writeFileSync(file, `${JSON.stringify(event)}\n${JSON.stringify(event)}\n`)
    expect(await read(file)).toEqual([event, event])
  })

  test('cut anywhere, it is a beginning of the run; continued, it is whole again', async () => {
    const file = fresh()
    const journal = openJournal(file, noError)
    for (const message of ['one', 'zwei ä']) journal.take(notice(message))
    await journal.close()
    const whole = readFileSync(file)
    const first = whole.indexOf('\n') + 1
    for (let length = 0; length < whole.length; length += 1) {
      writeFileSync(file, whole.subarray(0, length))
      expect(await read(file)).toHaveLength(length < first ? 0 : 1)
    }
    const continued = openJournal(file, noError)
    continued.take(notice('three'))
    await continued.close()
    expect(await read(file)).toEqual([notice('one'), notice('three')])
  })

  test('a half line longer than any buffer is cut off as well', async () => {
    const file = fresh()
    appendFileSync(file, `${JSON.stringify(notice('one'))}\n{"at":"${'x'.repeat(200_000)}`)
    const journal = openJournal(file, noError)
    journal.take(notice('two'))
    await journal.close()
    expect(await read(file)).toEqual([notice('one'), notice('two')])
  })

  test.each([
    ['a full disk', '/dev/full'],
    ['a directory that is none', '/dev/null/events.ndjson'],
  ])('%s is told once and never thrown', async (_what, file) => {
    const errors: Error[] = []
    const journal = openJournal(file, (error) => errors.push(error))
    for (const message of ['one', 'two', 'three']) journal.take(notice(message))
    await journal.close()
    expect(errors).toHaveLength(1)
  })

  test('a damaged line and a file that is not there are errors that say what to do', async () => {
    const file = fresh()
    writeFileSync(file, `${JSON.stringify(notice('one'))}\nnonsense\n`)
    await expect(read(file)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('line 2') })
    await expect(read(`${file}.gone`)).rejects.toMatchObject({
      code: 'usage',
      detail: expect.stringContaining('ENOENT'),
    })
  })
})
