import { CommanderError } from 'commander'
import { DroverError } from '../errors.ts'
import type { CliContext } from './context.ts'
import { createProgram } from './program.ts'

/** Runs one command line to its exit code. Never throws: what goes wrong is said on standard error, here and nowhere else. */
export const cli = async (context: CliContext): Promise<number> => {
  let exitCode = 0
  try {
    const program = createProgram(context, (code) => {
      exitCode = code
    })
    await program.parseAsync(context.argv, { from: 'user' })
    return exitCode
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0
    // A verb without its subcommand: commander has shown the help on standard error.
    if (thrown instanceof CommanderError && thrown.code === 'commander.help') return 5
    // Not before something is wrong: who asks for help waits for each file that is read.
    const [{ errorsOf, exitOfErrors }, { errorLines }, { paintFor }] = await Promise.all([
      import('./error-exit.ts'),
      import('./error-lines.ts'),
      import('./colour.ts'),
    ])
    const errors = errorsOf(thrown instanceof CommanderError ? usageError(thrown, context.argv) : thrown)
    const look = { paint: paintFor(context, context.stderr), stack: verbosity(context.argv) > 1 }
    context.stderr.write(
      errors
        .flatMap((error) => errorLines(error, look))
        .map((line) => `${line}\n`)
        .join(''),
    )
    return exitOfErrors(errors)
  }
}

const usageError = ({ message }: CommanderError, argv: readonly string[]): DroverError => {
  const [what = '', near] = message.replace(/^error: /, '').split('\n')
  const guess = /^\((Did you mean .*)\)$/.exec(near ?? '')?.[1]
  const verb = argv[0]?.match(/^[a-z]+$/) && !what.startsWith('unknown command') ? ` ${argv[0]}` : ''
  const help = `drover${verb} --help shows what there is.`
  return new DroverError({
    code: 'usage',
    message: `${sentence(what)}`,
    remedy: guess === undefined ? help : `${guess} ${help}`,
  })
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`

// Read here and not from the parsed options, since the command line itself may be what is wrong.
const verbosity = (argv: readonly string[]): number =>
  argv.reduce((count, word) => count + (word === '--verbose' ? 1 : /^-v+$/.test(word) ? word.length - 1 : 0), 0)
