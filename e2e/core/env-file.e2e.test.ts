import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { envFile } from '../../src/provision/env-file.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'

/** Property: what is put into an environment file is what a real systemd hands to a process (domain.md 10, rule M10). */

const images = ['rhel9-like', 'ubuntu-like'] as const
let lab: Lab
const hosts = new Map<string, LabHost>()

beforeAll(async () => {
  lab = await openLab('env-file', { yes: true })
  await Promise.all(
    images.map(async (image) => {
      const host = await lab.boot({ name: image.replace(/-.*/, ''), image })
      hosts.set(image, host)
      await host.put(
        '/etc/systemd/system/story-env.service',
        '[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=oneshot\nEnvironmentFile=/root/story.env\nExecStart=/usr/bin/env -0\nStandardOutput=truncate:/root/story.out\n',
      )
      await host.must('systemctl daemon-reload')
    }),
  )
})

afterAll(() => lab?.close())

const nul = '\0'
/** The environment of a process that a unit with this file starts. */
const handedOver = async (host: LabHost, file: string): Promise<Map<string, string>> => {
  await host.put('/root/story.env', file, '0600')
  await host.must('rm -f /root/story.out && systemctl start story-env.service')
  const out = Buffer.from(await host.must('base64 -w0 /root/story.out'), 'base64').toString()
  return new Map(
    out
      .split(nul)
      .filter((entry) => entry !== '')
      .map((entry): [string, string] => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
}

const probes = [
  '$HOME ${X} %h %% "q" \\ it\'s',
  '# no comment',
  '; no comment',
  ' blanks around  ',
  '\ttabs\t',
  '"',
  "'",
  '\\',
  'ends with a backslash\\',
  '\\n\\t\\x41\\',
  '"quoted"',
  "'quoted'",
  '""',
  '`id` $(id) !! *',
  'NAME=value',
  'é 漢字 😀 \u200b\u202e',
  ' ',
  'https://host/path?sig=a%2Bb%3D&x=$y#f',
  '{"a": {"b": "c\\"d"}}',
  '\x01\x1b[31m\x7f\x85',
  'x'.repeat(20_000),
]

/** No end of a line; and systemd takes a file that holds a code point which is no character for broken. */
const isText = (value: string): boolean => !/[\0\n\r]|\p{Cs}|\p{Noncharacter_Code_Point}/u.test(value)
const value = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'\\\'"$`%#; \ta={}!\\"'), maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 30 }).filter(isText),
  fc.string({ unit: 'grapheme', maxLength: 30 }).filter(isText),
)

describe.each(images)('systemd of %s', (image) => {
  const host = (): LabHost => hosts.get(image) as LabHost
  const named = (values: readonly string[]): Record<string, string> =>
    Object.fromEntries(values.map((text, index) => [`AKS_FLEX_NODE_${index}`, text]))

  test('hands over any text unchanged', async () => {
    const seed = Date.now()
    const wanted = named([...probes, ...fc.sample(value, { numRuns: 500, seed })])
    const seen = await handedOver(host(), envFile(Object.entries(wanted)).reveal())
    expect(Object.fromEntries(Object.keys(wanted).map((name) => [name, seen.get(name)])), `seed ${seed}`).toEqual(
      wanted,
    )
  })

  test.each(['\ufffe', '\ufdd0', '\u{1ffff}'])('starts nothing over %j, so it is refused', async (text) => {
    expect(() => envFile([['AKS_FLEX_NODE_BAD', text]])).toThrow('no Unicode character')
    await expect(handedOver(host(), `AKS_FLEX_NODE_BAD="${text}"\n`)).rejects.toThrow('story-env.service')
  })

  test('would take a value over the end of a line, so a newline is refused', async () => {
    expect(() => envFile([['AKS_FLEX_NODE_BAD', 'a\nLD_PRELOAD=b']])).toThrow('holds a newline')
    expect((await handedOver(host(), 'AKS_FLEX_NODE_BAD="a\nb"\n')).get('AKS_FLEX_NODE_BAD')).toBe('a\nb')
  })
})
