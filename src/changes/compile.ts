import type { Change, Condition, Expectation } from './change.ts'
import { contentBytes, sha256 } from './predict.ts'
import { undoScript } from './undo-script.ts'

/** One call of a function of steps.sh: its name and its arguments, none of them shell. */
export type Call = readonly string[]

/** What a segment makes the host do: calls in order, and the bytes they take content from. */
export interface Program {
  readonly calls: readonly Call[]
  readonly content: Buffer
  /** Longest time the changes may take together, as each declares it. */
  readonly deadlineS: number
}

export interface ExpectedChange {
  readonly change: Change
  readonly expects: readonly Expectation[]
  /** Whose it is, and the most that all changes of that step together may take. */
  readonly step?: string
  readonly withinS?: number
}

/**
 * Debts are marked on the host before anything is written and struck off when they are paid, so that a cut run
 * cannot leave a unit written and never loaded: the next run finds the mark (mechanisms.md 6.7). What is written
 * after that owes anew; what is refused as drifted before the first write owes nothing.
 */
export const compile = (changes: readonly ExpectedChange[]): Program => {
  const contents: Buffer[] = []
  const owed = new Set<string>()
  let offset = 0
  const calls = changes.flatMap(({ change, expects }, index) => {
    const number = String(index)
    const content = contentOf(change)
    const body = callOf(change, content, offset)
    if (content !== null) {
      contents.push(content)
      offset += content.length
    }
    const debt = debtOf(change)
    const owing = debtsOfWrite(changes, index).filter((name) => !owed.has(name))
    for (const name of owing) owed.add(name)
    if (debt !== null) owed.delete(debt)
    return [
      ...limitBefore(changes, index),
      ['begin', number, change.kind],
      ...expects.map((expectation) => ['expect', ...expectCall(expectation)]),
      ...owing.map((name) => ['owe', name]),
      ['perform', ...body],
      ...(debt === null ? [] : [['paid', debt]]),
      ['ended', number],
    ]
  })
  return {
    // A guarded group that has come to its end, with all its checks, may be confirmed by another run, too (U4).
    calls: changes.some(({ change }) => change.kind === 'arm') ? [...calls, ['proved']] : calls,
    content: Buffer.concat(contents),
    deadlineS: changes.reduce((sum, { change }) => sum + timeOf(change), 30),
  }
}

/** The limit of a step begins with its first change, and ends where the next one begins. */
const limitBefore = (changes: readonly ExpectedChange[], index: number): Call[] => {
  const [before, now] = [changes[index - 1], changes[index]]
  if (before?.step === now?.step && index > 0) return []
  if (before?.withinS === undefined && now?.withinS === undefined) return []
  return [['within', String(now?.withinS ?? 0)]]
}

/** What a cut right after this change would leave to be done: all that later changes pay. */
const debtsOfWrite = (changes: readonly ExpectedChange[], index: number): string[] => {
  const kind = changes[index]?.change.kind
  if (kind === 'systemctl' || kind === 'await') return []
  const later = changes.slice(index + 1).map(({ change }) => debtOf(change))
  return [...new Set(later.filter((debt) => debt !== null))]
}

/**
 * What nobody could see any more if the run were cut before this change. A reload leaves no trace that systemd
 * would own up to (mechanisms.md 5); what a restart is for can be read off the host again.
 */
export const debtOf = (change: Change): string | null =>
  change.kind === 'systemctl' && change.verb === 'daemon-reload' ? 'daemon-reload' : null

/** What travels with the script for a change. */
const contentOf = (change: Change): Buffer | null => {
  if (change.kind === 'write') return contentBytes(change.content)
  return change.kind === 'arm' ? Buffer.from(undoScript(change.undo ?? [], change.scope)) : null
}

const callOf = (change: Change, content: Buffer | null, offset: number): Call => {
  switch (change.kind) {
    case 'write': {
      const bytes = content ?? Buffer.alloc(0)
      return ['put', change.path, octal(change.mode), change.owner, String(offset), String(bytes.length), sha256(bytes)]
    }
    case 'link':
      return ['relink', change.path, change.target]
    case 'directory':
      return ['make_directory', change.path, octal(change.mode), change.owner]
    case 'attributes':
      return ['attributes', change.path, octal(change.mode), change.owner]
    case 'rename':
      return ['rename_to', change.from, change.to]
    case 'remove':
      return [change.recurse ? 'remove_tree' : 'remove', change.path]
    case 'systemctl':
      return change.verb === 'daemon-reload' ? ['control', change.verb] : ['control', change.verb, change.unit]
    case 'package':
      return [`${change.manager}_install`, ...change.install]
    case 'await':
      return [
        change.orGoOn ? 'wait_or_go_on' : 'wait_for',
        String(Math.round(change.withinMs)),
        String(Math.round(change.stableMs)),
        ...conditionCall(change.condition),
      ]
    case 'upload':
      return ['place', change.path, octal(change.mode), change.owner, change.artifact.sha256]
    case 'copy':
      return ['copy_file', change.from, change.sha256, change.path, octal(change.mode), change.owner]
    case 'hold':
      return ['hold', change.lock, String(change.forS)]
    case 'release':
      return ['release_lock']
    case 'arm': {
      const bytes = content ?? Buffer.alloc(0)
      return [
        'arm',
        change.what,
        change.candidate,
        String(Math.ceil(change.withinMs / 1000)),
        String(offset),
        String(bytes.length),
        sha256(bytes),
      ]
    }
    case 'confirm':
      return ['confirm', change.run]
    case 'fire':
      return ['fire_now', change.run, String(Math.ceil(change.withinMs / 1000))]
    case 'reboot':
      // The script would not outlive it: the run does it when the script is over.
      throw new Error('a reboot is no part of a script')
    case 'run':
      return ['run_command', String(Math.ceil(change.timeoutMs / 1000)), ...change.argv]
  }
}

const conditionCall = (condition: Condition): Call => {
  switch (condition.is) {
    case 'active':
      return ['is_active', condition.unit]
    case 'untouched':
      return ['is_untouched', condition.unit, condition.mainPid]
    case 'running':
      return ['is_running', condition.machine]
    case 'startable':
      return ['is_startable', condition.unit, String(condition.below), String(condition.windowS)]
    case 'running-from':
      return ['is_running_from', condition.unit, condition.exe]
    case 'succeeding': {
      const says = condition.line === undefined ? ['any', ''] : ['line', condition.line]
      return ['succeeds', String(condition.timeoutS), ...says, ...condition.command]
    }
    case 'gone':
      return ['is_gone', condition.path]
    case 'answering':
      return ['answers', String(condition.timeoutS), condition.url]
  }
}

const expectCall = (expectation: Expectation): Call => {
  if ('directory' in expectation) return ['directory_holds', expectation.directory, ...expectation.holds]
  if ('unit' in expectation) return ['unit_is', expectation.unit, expectation.property, expectation.value]
  switch (expectation.is) {
    case 'file':
      return ['path_is', expectation.path, 'file', expectation.sha256 ?? '']
    case 'symlink':
      return ['path_is', expectation.path, 'symlink', expectation.target]
    default:
      return ['path_is', expectation.path, expectation.is, '']
  }
}

// Five digits: with four, chmod leaves a directory the setgid bit that it has or inherits.
const octal = (mode: number): string => mode.toString(8).padStart(5, '0')

/** Seconds that a change may take: systemd's own job timeout of 90 s, and what packages need on slow mirrors. */
const timeOf = (change: Change): number => {
  switch (change.kind) {
    case 'await':
      return Math.ceil(change.withinMs / 1000) + ('timeoutS' in change.condition ? change.condition.timeoutS : 0) + 5
    case 'fire':
      return Math.ceil(change.withinMs / 1000) + 5
    case 'upload':
    case 'copy':
      // Its digest is taken, and it is synced, both of up to 256 MiB.
      return 120
    case 'arm':
    case 'confirm':
    case 'hold':
    case 'release':
    case 'rename':
      return 60
    case 'run':
      return Math.ceil(change.timeoutMs / 1000) + 5
    case 'package':
      return 900
    case 'systemctl':
      return ['daemon-reload', 'reset-failed', 'start'].includes(change.verb) ? 30 : 120
    case 'remove':
      // The root file system of a worker holds the images of all its containers.
      return change.recurse ? 600 : 10
    default:
      return 10
  }
}
