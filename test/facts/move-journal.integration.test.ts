import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

/** `journalctl` is a program that prints a recorded journal and notes that it was asked. */

const script = fileURLToPath(new URL('../../src/facts/probes/move-journal.sh', import.meta.url))
const unit = 'aks-flex-node-agent.service'

const failed = 'level=ERROR msg="could not move the agent\'s files" error="no space left on device"'
const held = 'level=WARN msg="not taking work until the daemon is restarted" reason="its root has changed"'

const answerTo = (lines: readonly string[], marked = true): { answer: string; asked: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'drover-move-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string): string => join(folder, name)
  writeFileSync(at('log'), lines.map((line) => `${line}\n`).join(''))
  writeFileSync(at('asked'), '')
  writeFileSync(at('journalctl'), `#!/bin/sh\necho "$@" >>"${at('asked')}"\ncat "${at('log')}"\n`)
  chmodSync(at('journalctl'), 0o755)
  if (marked) writeFileSync(at('mark two'), '')
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH ?? ''}` }
  const argv = [script, unit, at('mark one'), at('mark two')]
  return {
    answer: execFileSync('/bin/sh', argv, { env, encoding: 'utf8' }).trim(),
    asked: readFileSync(at('asked'), 'utf8'),
  }
}

test('where no mark of a move is there the journal is not opened', () => {
  expect(answerTo([failed], false)).toEqual({ answer: '', asked: '' })
})

test.each<[string, readonly string[], string]>([
  ['11.32 the failure, rather than the wait that follows it', ['running', failed, held, 'stopped'], failed],
  ['the wait, where nothing else was said', ['running', held], held],
  [
    'the last failure',
    [failed, failed.replace('no space left', 'read-only')],
    failed.replace('no space left', 'read-only'),
  ],
  ['nothing of it', ['running', 'cannot reach the cluster'], ''],
  ['an empty journal', [], ''],
  [
    'what a shell would read',
    [`could not move the agent's files: $(id) \\n %s`],
    `could not move the agent's files: $(id) \\n %s`,
  ],
])('%s', (_, lines, wanted) => {
  const { answer, asked } = answerTo(lines)
  expect(answer).toBe(wanted)
  expect(asked).toContain(`-u ${unit}`)
})
