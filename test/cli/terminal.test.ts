import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../transport/sshd.ts'

/** The real program on a terminal of its own, which script(1) makes; what is typed is what the test writes. */

const bin = fileURLToPath(new URL('../../bin/drover.js', import.meta.url))
const password = 'Xq7-typed-9Zk'

const onTerminal = async (args: string, typed: string) => {
  const cwd = mkdtempSync(join(tmpdir(), 'drover-terminal-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(join(cwd, 'known_hosts'), '')
  const command = `'${process.execPath}' '${bin}' ${args} --known-hosts known_hosts; echo "ended $?"; stty -a`
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const wasAsked = shown.includes('password: ')
    shown += text
    if (!wasAsked && shown.includes('password: ')) child.stdin.write(typed)
  })
  await new Promise((resolve) => child.on('close', resolve))
  return shown
}

test('a password is asked for once, is not shown, and the terminal is as it was', async () => {
  const port = await freePort()
  const shown = await onTerminal(`status -k -i 127.0.0.1:${port},127.0.0.2:${port},`, `${password}\r`)
  expect(shown.split('Login password: ')).toHaveLength(2)
  expect(shown).not.toContain(password)
  // It went on with it, as far as these hosts let it.
  expect(shown).toContain('connect-failed')
  expect(shown).toMatch(/ended 4[\s\S]* echo/)
})

test('Ctrl-C at the question is an interrupt', async () => {
  const shown = await onTerminal(`run preflight -k -i 127.0.0.1:${await freePort()},`, 'Xq\x03')
  expect(shown).toMatch(/ended 130[\s\S]* echo/)
  expect(shown).not.toContain('PLAY')
})

test('without a terminal -k ends with 5 and asks nothing', async () => {
  // Of a session of its own: the tests may themselves run on a terminal.
  const child = spawn(process.execPath, [bin, 'status', '-k', '-i', '127.0.0.1,', '--host-key-policy', 'off'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect({ code, said }).toEqual({ code: 5, said: expect.stringContaining('no terminal to ask') })
})
