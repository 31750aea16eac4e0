import { inspect } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compile } from '../../src/changes/compile.ts'
import { diffOf, summaryOf } from '../../src/changes/describe.ts'
import { journalLine } from '../../src/runner/apply-script.ts'
import type { Run } from '../../src/runner/run.ts'
import { Secret } from '../../src/secret.ts'
import { hostState } from '../tasks/host-state.ts'
import { anyChange, anyPath, anySecret, secretText } from './every.ts'

/** Every run of twelve characters of it: none may show. */
const parts = (secret: string): string[] =>
  Array.from({ length: Math.max(1, secret.length - 11) }, (_, at) => secret.slice(at, at + 12))

test('a secret is in no summary, no diff, no JSON, no inspection and no line of the journal', () => {
  fc.assert(
    fc.property(fc.array(anyChange(anySecret), { minLength: 1, maxLength: 6 }), (changes) => {
      const state = hostState()
      const shown = changes.map((change) => ({
        change,
        expects: [],
        summary: summaryOf(change),
        diff: diffOf(state, change),
      }))
      const run = { id: 'r', operator: 'o', reason: null } as unknown as Run
      const texts = [
        JSON.stringify(shown),
        inspect(shown, { depth: 9 }),
        String(shown.map(({ summary }) => summary)),
        journalLine(
          run,
          shown.map(({ change, summary }) => ({ change, expects: [], summary })),
        ),
        JSON.stringify(compile(shown).calls),
      ]
      for (const change of changes) {
        if (change.kind !== 'write' || !(change.content instanceof Secret)) continue
        for (const part of parts(change.content.reveal())) for (const text of texts) expect(text).not.toContain(part)
      }
    }),
  )
})

test('nor is what a secret file held before, by whatever name it was asked for', () => {
  fc.assert(
    fc.property(secretText, anyPath, (secret, path) => {
      for (const paths of [
        { [path]: { file: secret } },
        { [`${path}-link`]: { link: path }, [path]: { file: secret } },
      ]) {
        const asked = Object.keys(paths)[0] as string
        const state = hostState({ paths }, [{ kind: 'path', path: asked, content: 999, secret: true }])
        const diff = diffOf(state, { kind: 'write', path, content: 'public', mode: 0o600, owner: 'root:root' })
        expect(diff).toBe('content is secret: it becomes another\n')
      }
    }),
  )
})

test('the value comes out by its one way only', () => {
  const secret = new Secret('hunter2')
  expect(secret.reveal()).toBe('hunter2')
  expect(
    [String(secret), `${secret}`, JSON.stringify({ secret }), inspect(secret), Object.values(secret).join()].join(),
  ).not.toContain('hunter2')
})
