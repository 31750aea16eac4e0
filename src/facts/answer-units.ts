import { AnswerError } from './answer-error.ts'
import { type Lines, text, wordsOf } from './lines.ts'
import type { Question } from './question.ts'
import type { SystemdAnswer } from './state.ts'
import { seconds } from './time-span.ts'
import { hiddenExe, type UnitProperty, type UnitState, unitProperties } from './unit.ts'

export const systemdAnswer = (lines: Lines): SystemdAnswer => {
  const [word, code, why] = wordsOf(lines[0] ?? '')
  if (word !== 'failed') return { ok: true }
  const words = text(why).trim()
  return { ok: false, error: `systemctl show ended with ${code}: ${words === '' ? 'no message' : words}` }
}

/** By order, since an alias answers with another Id (mechanisms.md 5). */
export const unitStates = (question: Question, lines: Lines, starts: Lines): Map<string, UnitState> => {
  if (question.units.length === 0) return new Map()
  const [word, shown] = wordsOf(lines[0] ?? '')
  if (word !== 'units') throw new AnswerError('units', 'no answer of systemctl')
  const blocks = blocksOf(text(shown))
  if (blocks.length !== question.units.length) {
    throw new AnswerError('units', `${question.units.length} units were asked, ${blocks.length} came`)
  }
  const exes = new Map(lines.slice(1).map((line) => [wordsOf(line)[1], text(wordsOf(line)[2])]))
  const all = new Map<string, UnitState>()
  for (const [index, name] of question.units.entries()) {
    const values = blocks[index]
    const properties = Object.fromEntries(
      unitProperties.map((property) => [property, settled(values?.get(property) ?? '')]),
    ) as Record<UnitProperty, string>
    const asked = question.startsOf.indexOf(name)
    const windowS = seconds(properties.StartLimitIntervalUSec)
    all.set(name, {
      properties,
      exe: exeOf(name, properties.MainPID, exes),
      ...(asked >= 0 && {
        starts: startsWithin(windowS, starts[asked] ?? ''),
      }),
    })
  }
  return all
}

/** A journal that cannot be read says nothing about how much room there is: more than any limit, then. */
const startsWithin = (windowS: number, line: string): number => {
  if (line === 'starts unknown') return Number.POSITIVE_INFINITY
  return wordsOf(line)
    .slice(1)
    .filter((age) => Number(age) <= windowS).length
}

const exeOf = (name: string, mainPid: string, exes: ReadonlyMap<string | undefined, string>): string => {
  if (mainPid === '' || mainPid === '0') return ''
  const exe = exes.get(mainPid)
  if (exe === undefined) throw new AnswerError('units', `nothing is said of the process of ${name}`)
  return exe === '' ? hiddenExe : exe.replace(/ \(deleted\)$/, '')
}

type Block = ReadonlyMap<string, string>

/**
 * The properties of each unit. systemctl ends a unit with an empty line, but a command line in ExecStart= may
 * hold one as well: only after Id, which comes late, is a unit complete. What is still ambiguous is refused.
 */
const blocksOf = (shown: string): Block[] => {
  const blocks: Block[] = []
  let block = new Map<string, string>()
  let last: string | null = null
  for (const line of shown.split('\n')) {
    const [, key, value = ''] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? []
    if (line === '' && (block.has('Id') || block.size === 0)) {
      if (block.size > 0) blocks.push(block)
      block = new Map()
      last = null
    } else if (key !== undefined && isProperty(key)) {
      const before = block.get(key)
      // A oneshot service has a line for each of its commands; nothing else comes twice.
      if (before !== undefined && key !== 'ExecStart') throw new AnswerError('units', `a unit shows ${key} twice`)
      block.set(key, before === undefined ? value : `${before}\n${value}`)
      last = key
    } else {
      if (last === null) throw new AnswerError('units', 'a unit begins with no property')
      block.set(last, `${block.get(last)}\n${line}`)
    }
  }
  if (block.size > 0) {
    if (!block.has('Id')) throw new AnswerError('units', 'a unit shows no Id')
    blocks.push(block)
  }
  return blocks
}

const isProperty = (key: string): boolean => (unitProperties as readonly string[]).includes(key)

/** Without what an ExecStart= says of the process of this moment, which would make it differ at each start. */
const settled = (value: string): string => value.replaceAll(/ ; start_time=\[[^\]]*\] ; stop_time=[^}]*}/g, ' }')
