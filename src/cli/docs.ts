import type { ErrorCode } from '../errors.ts'
import { exitCodeMeanings } from '../report/exit-code.ts'
import type { Task } from '../tasks/task.ts'
import { exitOfError } from './error-exit.ts'
import { type Parameter, parametersOf } from './parameters.ts'

const generated = (source: string): string =>
  `<!-- Written by src/cli/write-docs.ts from ${source}; changes here are lost. -->`

/** docs/tasks.md: all of it is in the tasks themselves. */
export const tasksMarkdown = (tasks: Iterable<Task>): string => {
  const sorted = [...tasks].sort((a, b) => (a.name < b.name ? -1 : 1))
  return [
    generated('the tasks'),
    '',
    '# Tasks',
    '',
    'What a step of a playbook can ask for. A task names a wanted state; drover changes only what is missing of it.',
    `\`drover tasks NAME\` shows the same.`,
    '',
    ...sorted.map(({ name, summary }) => `- [${name}](#${name}): ${summary}`),
    '',
    ...sorted.flatMap(taskSection),
  ].join('\n')
}

const taskSection = ({ name, summary, params, example }: Task): readonly string[] => {
  const parameters = parametersOf(params)
  return [
    `## ${name}`,
    '',
    summary,
    '',
    ...(parameters.length === 0
      ? ['It has no parameters.']
      : ['| parameter | type | default | what it is |', '|---|---|---|---|', ...parameters.map(parameterRow)]),
    '',
    '```yaml',
    example.trimEnd(),
    '```',
    '',
  ]
}

const parameterRow = ({ name, type, default: fallback, isRequired, description }: Parameter): string =>
  `| ${[`\`${name}\``, cell(type), fallback === undefined ? (isRequired ? 'required' : '-') : `\`${cell(fallback)}\``, cell(description)].join(' | ')} |`

/** docs/errors.md: one row per code, with the exit code that it leads to by itself. */
export const errorsMarkdown = (codes: Readonly<Record<ErrorCode, string>>): string => {
  const entries = Object.entries(codes) as [ErrorCode, string][]
  return [
    generated('src/errors.ts'),
    '',
    '# Errors',
    '',
    'Every error has a code, a message and a remedy. Codes are stable and are what programs can rely on: they stand in',
    '`report.json` and in brackets behind the message. Wording may improve at any time.',
    '',
    '| code | what it means | exit |',
    '|---|---|---|',
    ...entries.map(([code, meaning]) => `| \`${code}\` | ${cell(meaning)} | ${exitOfError(code)} |`),
    '',
    '## Exit codes',
    '',
    'When several apply, the first of 5, 1, 130, 8, 7, 2, 9, 4, 6 is the exit code; the report names them all.',
    '',
    '| exit | what it means |',
    '|---|---|',
    ...Object.entries(exitCodeMeanings).map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`),
    '',
  ].join('\n')
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
