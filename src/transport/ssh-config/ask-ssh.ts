import { execFile } from 'node:child_process'
import { DroverError } from '../../errors.ts'
import { printableText } from '../../printable.ts'
import type { SshConfigSource } from './config-source.ts'
import { fileArguments } from './config-source.ts'
import type { Destination } from './evaluate.ts'

/** What `ssh -G` prints: each keyword with its values, in lower case and with every default. */
export type Answer = ReadonlyMap<string, readonly string[]>

export interface AskSshOptions {
  readonly program: string
  /** What ssh, and the programs that its configuration names, are started with. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly source: SshConfigSource
}

const deadlineMs = 20_000

/** Null: there is no ssh client on this machine. */
export const askSsh = (
  { program, source, env }: AskSshOptions,
  { name, user }: Pick<Destination, 'name' | 'user'>,
): Promise<Answer | null> => {
  const args = ['-T', ...fileArguments(source), '-G', ...(user === undefined ? [] : ['-l', user]), '--', name]
  return new Promise((resolve, reject) => {
    execFile(
      program,
      args,
      { env, timeout: deadlineMs, maxBuffer: 4 << 20, encoding: 'utf8' },
      (error, stdout, stderr) => {
        if (error === null) resolve(parseAnswer(stdout))
        else if (error.code === 'ENOENT') resolve(null)
        else reject(refused(name, error.killed === true ? `no answer within ${deadlineMs} ms` : stderr))
      },
    )
  })
}

const parseAnswer = (text: string): Answer => {
  const answer = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ')
    if (space === -1) continue
    const keyword = line.slice(0, space)
    answer.set(keyword, [...(answer.get(keyword) ?? []), line.slice(space + 1)])
  }
  return answer
}

/** ssh refuses a host whose ProxyJump is itself; of other hosts that says nothing. */
export const isLoop = (error: DroverError): boolean => error.message.includes('jumphost loop')

/** ssh names file and line itself. */
const refused = (name: string, stderr: string): DroverError => {
  const lines = printableText(stderr)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const isLooping = lines[0]?.includes('jumphost loop') ?? false
  return new DroverError({
    code: 'ssh-config-invalid',
    message: `ssh cannot use its configuration for ${name}: ${lines[0] ?? 'it gives no reason'}`,
    remedy: isLooping
      ? `Give ${name} a Host block of its own with \`ProxyJump none\`, above the one that gives it a way.`
      : 'Correct the file (`ssh -G HOST` checks it), or leave it out with -F none.',
    ...(lines.length > 1 && { detail: lines.slice(1).join('\n') }),
  })
}
