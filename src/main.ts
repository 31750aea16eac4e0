import { readFileSync } from 'node:fs'
import { homedir, hostname, userInfo } from 'node:os'
import { fileURLToPath } from 'node:url'
import { cli } from './cli/cli.ts'
import type { TextOutput } from './cli/context.ts'
import { openTerminal } from './cli/terminal.ts'
import type { Ask } from './transport/login/ask.ts'

const outputOf = (stream: NodeJS.WriteStream): TextOutput => {
  let isOpen = true
  // `drover status | head` closes its end early. A run goes on all the same: its journal and its hosts matter more.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    isOpen = false
    if (error.code !== 'EPIPE') process.exitCode = 1
  })
  return {
    write: (text) => {
      if (isOpen) stream.write(text)
    },
    isTTY: stream.isTTY === true,
    get columns() {
      // Serial lines and some pseudo-terminals say 0.
      return stream.columns || undefined
    },
  }
}

const listeners: (() => void)[] = []
const exitNow = (code: number): void => process.exit(code)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    const listener = listeners.at(-1)
    if (listener === undefined) exitNow(130)
    else listener()
  })
}

const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    // A uid without an entry in /etc/passwd, as in some containers.
    return process.env.USER ?? 'unknown'
  }
}

const accountHome = (): string => {
  try {
    return userInfo().homedir
  } catch {
    return homedir()
  }
}

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

let asking: Promise<Ask> | undefined
/** One for the whole process: it asks one question at a time. */
const ask: Ask = async (question) => {
  asking ??= import('./cli/ask.ts').then(({ createAsk }) =>
    createAsk({ openTerminal, interrupt: () => process.kill(process.pid, 'SIGINT') }),
  )
  return (await asking)(question)
}

const threadCount = Number(process.env.UV_THREADPOOL_SIZE) || 4

const code = await cli({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  home: homedir(),
  accountHome: accountHome(),
  user: userName(),
  workstation: hostname(),
  stdout: outputOf(process.stdout),
  stderr: outputOf(process.stderr),
  ask,
  onInterrupt: (listener) => {
    listeners.push(listener)
    return () => void listeners.splice(listeners.indexOf(listener), 1)
  },
  exitNow,
  now: () => new Date(),
  fetch: async (...request) => (await import('./cli/proxied-fetch.ts')).proxiedFetch(...request),
  version,
  playbooksDir: fileURLToPath(new URL('../playbooks', import.meta.url)),
  hasTerminal: () => {
    const terminal = openTerminal()
    terminal?.close()
    return terminal !== null
  },
  load: async () => {
    const [{ tasks }, { createSsh2Transport }, { createTransport }] = await Promise.all([
      import('./tasks/registry.ts'),
      import('./transport/ssh2/ssh2-transport.ts'),
      import('./transport/transport.ts'),
    ])
    return {
      tasks,
      createScanner: (options) => createSsh2Transport({ ...options, threadCount }),
      createTransport: (options) => createTransport({ ...options, threadCount }),
    }
  },
})
process.exitCode ??= code

// A way to a dead host, left open by mistake, must not keep the user waiting for a run that is over.
const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => (stream.writable ? stream.write('', () => resolve()) : resolve()))
void Promise.all([flushed(process.stdout), flushed(process.stderr)]).then(() =>
  setTimeout(() => process.exit(), 3_000).unref(),
)
