import { keyValues } from './answer-host.ts'
import { type Lines, text, wordsOf } from './lines.ts'
import type { Question } from './question.ts'
import type { SystemdAnswer } from './state.ts'
import { seconds } from './time-span.ts'
import { type UnitProperty, type UnitState, unitProperties } from './unit.ts'

export const systemdAnswer = (lines: Lines): SystemdAnswer => {
  const [word, code, why] = wordsOf(lines[0] ?? '')
  if (word !== 'failed') return { ok: true }
  const words = text(why).trim()
  return { ok: false, error: `systemctl show ended with ${code}: ${words === '' ? 'no message' : words}` }
}

/** By order, since an alias answers with another Id (mechanisms.md 5). */
export const unitStates = (question: Question, lines: Lines, starts: Lines): Map<string, UnitState> => {
  const all = new Map<string, UnitState>()
  if (question.units.length === 0) return all
  const blocks = text(wordsOf(lines[0] ?? '')[1])
    .split('\n\n')
    .filter((block) => block.trim() !== '')
  for (const [index, name] of question.units.entries()) {
    const values = keyValues(blocks[index] ?? '')
    const properties = Object.fromEntries(
      unitProperties.map((property) => [property, settled(values.get(property) ?? '')]),
    ) as Record<UnitProperty, string>
    const exe = wordsOf(lines[index + 1] ?? '')[1] ?? '-'
    const asked = question.startsOf.indexOf(name)
    const windowS = seconds(properties.StartLimitIntervalUSec)
    all.set(name, {
      properties,
      exe: exe === '-' || exe === '?' ? '' : text(exe).replace(/ \(deleted\)$/, ''),
      ...(asked >= 0 && {
        starts: wordsOf(starts[asked] ?? '')
          .slice(1)
          .filter((age) => Number(age) <= windowS).length,
      }),
    })
  }
  return all
}

/** Without what an ExecStart= says of the process of this moment, which would make it differ at each start. */
const settled = (value: string): string => value.replaceAll(/ ; start_time=\[[^\]]*\] ; stop_time=[^}]*}/g, ' }')
