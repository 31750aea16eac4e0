import { expect, test } from 'vitest'
import { collectScript } from '../../src/collect/host-script.ts'
import { partsOf } from '../../src/collect/parts.ts'
import { configFile } from '../../src/tasks/agent/paths.ts'
import { buildCommand } from '../../src/transport/script/command.ts'

const parts = partsOf(3600)

test('all parts together are no more than a bundle may be', () => {
  expect(parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(8 * 1024 * 1024 - 64 * 1024)
  expect(parts.every(({ bytes, seconds }) => bytes % 1024 === 0 && seconds > 0 && seconds <= 60)).toBe(true)
})

test('each has a file of its own, with a name that is safe everywhere', () => {
  const files = parts.map(({ file }) => file)
  expect(new Set(files).size).toBe(files.length)
  expect(files.filter((file) => !/^[a-z]+\/[a-z0-9-]+\.(txt|log|json)$/.test(file))).toEqual([])
})

test('journals are read backwards, for as long as was asked, so that a long one costs no more than is kept', () => {
  const journals = parts.filter(({ file }) => file.startsWith('journal/'))
  expect(journals.length).toBeGreaterThan(5)
  for (const { argv, keep } of journals) {
    expect(keep).toBe('newest')
    expect(argv).toEqual(expect.arrayContaining(['journalctl', '-r', '--since=-3600s']))
    // In a container -b shows earlier boots, too, and before systemd 254 -n counts from the wrong end.
    expect(argv.filter((word) => word === '-b' || word === '-n')).toEqual([])
  }
})

test('of config.json nothing is asked but what the script for it lets through', () => {
  const asking = parts.filter(({ argv }) => argv.includes(configFile))
  expect(asking.map(({ file }) => file)).toEqual(['state/config.txt'])
  const text = parts.find(({ file }) => file === 'state/config.txt')?.argv[2]?.split('main() {')[1] ?? ''
  expect(text).toContain('grep -Eo')
  expect(text).not.toMatch(/\b(cat|head|tail|base64|cp)\b/)
})

test('no file of a secret is asked for', () => {
  const words = parts.filter(({ file }) => !file.startsWith('layout/')).flatMap(({ argv }) => argv)
  expect(words.filter((word) => /first-boot|credential|kubeconfig|\.log$|\/out$|\/content$/.test(word))).toEqual([])
})

test('nothing that is run changes anything', () => {
  // What stands in the scripts is read by people; this is for a slip of the pen.
  const verbs = /(?:^|[\s;&|(])(?:rm|mv|cp|ln|touch|mkdir|chmod|chown|install|tee|dd|kill|mount|umount|restorecon)\s/m
  const verb =
    /\b(?:systemctl|machinectl)\b[^\n]*\b(?:start|stop|restart|reload|enable|disable|mask|kill|reset-failed|daemon-reload|terminate|poweroff|set-property)\b/
  const redirected = />\s*"?[$/]/
  for (const { file, argv } of parts) {
    const text = argv[0] === '/bin/sh' ? (argv[2] ?? '') : argv.join(' ')
    expect(text, file).not.toMatch(verbs)
    expect(text, file).not.toMatch(verb)
    expect(text.replaceAll('>/dev/null', ''), file).not.toMatch(redirected)
  }
})

test('the script takes a byte more of each than is kept, and it fits into a command', () => {
  const { script, args } = collectScript(parts.slice(0, 2), 150)
  expect(args.slice(0, 6)).toEqual(['150', 'system/host.txt', '30', String(64 * 1024 + 1), 'first', '4'])
  expect(script).toMatch(/main "\$@" <\/dev\/null\n$/)
  const all = collectScript(parts, 150)
  const input = { run: 'collect-1', verb: 'collect', become: null, askToken: 'a', token: 'b', ...all }
  expect(buildCommand(input).command.length).toBeLessThan(128 * 1024)
})
