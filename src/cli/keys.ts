import { DroverError } from '../errors.ts'
import type { Host } from '../inventory/host.ts'
import { jsonText } from '../report/json-text.ts'
import { counted } from '../report/paint.ts'
import { fingerprintOf, keyTypeOf } from '../transport/host-keys/host-key.ts'
import { keyPlaceOf } from '../transport/host-keys/host-pattern.ts'
import { appendHostKeys } from '../transport/host-keys/known-hosts-append.ts'
import { paintFor } from './colour.ts'
import type { WholeContext } from './context.ts'
import { withHosts } from './host-request.ts'
import { type ScannedHost, scanHosts } from './keys-scan.ts'
import { keyErrors, keySummary, keyTable } from './keys-table.ts'
import type { LogOptions } from './log.ts'
import type { ConnectionOptions, InventoryOptions } from './sources.ts'

export interface KeysScanOptions extends InventoryOptions, ConnectionOptions, LogOptions {
  readonly forks: number
  readonly write?: true
  readonly yes?: true
  readonly output: 'table' | 'json'
}

/** `drover keys scan`: one table of the keys that hosts show, to be confirmed once. */
export const keysScan = (context: WholeContext, options: KeysScanOptions): Promise<number> =>
  withHosts(
    context,
    options,
    {
      open: context.createScanner,
      read: () => refuseUnasked(context, options),
      prepare: (_, hosts) => refuseNowhere(hosts, options),
    },
    async ({ way: scanner, hosts }) => {
      const stop = new AbortController()
      const unsubscribe = context.onInterrupt(() => (stop.signal.aborted ? context.exitNow(130) : stop.abort()))
      const scanned = await scanHosts(hosts, { scanner, forks: options.forks, signal: stop.signal }).finally(
        unsubscribe,
      )
      show(context, options, scanned)
      if (stop.signal.aborted) return 130
      if (options.write) await write(context, options, scanned)
      return exitOf(scanned)
    },
  )

/** Nobody shall wait for a scan whose result nobody can confirm. */
const refuseUnasked = (context: WholeContext, { write, yes }: KeysScanOptions): void => {
  const usage = (message: string, remedy: string): DroverError => new DroverError({ code: 'usage', message, remedy })
  if (yes && !write) throw usage('--yes is for --write.', 'Add --write, or leave it out.')
  if (write && !yes && !context.hasTerminal())
    throw usage(
      'There is no terminal to ask whether the keys are right.',
      'Look at them without --write, then write them with --write --yes.',
    )
}

/** `UserKnownHostsFile /dev/null` is how people switch host keys off. */
const refuseNowhere = (hosts: readonly Host[], { write }: KeysScanOptions): void => {
  const host = hosts.find(({ knownHostsFiles }) => knownHostsFiles[0] === '/dev/null')
  if (!write || host === undefined) return
  throw new DroverError({
    code: 'usage',
    message: `The known_hosts file of ${host.name} is /dev/null, so there is nowhere to write its keys.`,
    remedy: 'Name a file with --known-hosts, or correct the inventory or ssh_config.',
  })
}

const show = (context: WholeContext, { output }: KeysScanOptions, scanned: readonly ScannedHost[]): void => {
  const { stdout } = context
  if (output === 'json') {
    stdout.write(jsonText({ schemaVersion: 1, hosts: scanned.map(jsonHost) }))
    return
  }
  const paint = paintFor(context, stdout)
  const width = stdout.isTTY ? (stdout.columns ?? null) : null
  const lines = [...keyTable(scanned, { paint, width }), ...keySummary(scanned, paint)]
  stdout.write(lines.map((line) => `${line}\n`).join(''))
}

const jsonHost = ({ host, keys, error }: ScannedHost): unknown => ({
  host: host.name,
  address: host.address,
  port: host.port,
  jump: host.jump.map(({ name }) => name),
  keys: keys.map(({ blob, type, state, known }) => ({
    type,
    fingerprint: fingerprintOf(blob),
    state,
    known: known.map((line) => ({ fingerprint: fingerprintOf(line.blob), file: line.file, line: line.line ?? null })),
  })),
  error: error === null ? null : { code: error.code, message: error.message, remedy: error.remedy },
})

/** Each file gets what is new of its hosts; a key that has changed is never written over. */
const write = async (
  context: WholeContext,
  options: KeysScanOptions,
  scanned: readonly ScannedHost[],
): Promise<void> => {
  const say = (text: string): void => context.stderr.write(`drover: ${text}\n`)
  const isSound = ({ keys }: ScannedHost): boolean => keyStates(keys).every((state) => ['known', 'new'].includes(state))
  const torn = scanned.filter((one) => scanned.some((other) => differ(one, other)))
  for (const { host } of torn)
    say(
      `${host.name} shares its place in known_hosts with a host of other keys: give them a host_key_alias. Not written.`,
    )
  const wanted = scanned.filter((one) => isSound(one) && !torn.includes(one) && keyStates(one.keys).includes('new'))
  const files = [...new Set(wanted.map(({ file }) => file))]
  const count = wanted.flatMap(({ keys }) => keys).filter(({ state }) => state === 'new').length
  if (count === 0) return say('there is no new key to write')
  if (!options.yes && !(await confirmed(context, `write ${counted(count, 'new key')} to ${files.join(', ')}?`)))
    return say('nothing was written')
  for (const file of files) {
    const shown = wanted
      .filter((one) => one.file === file)
      .flatMap(({ host, keys }) => keys.map(({ blob }) => ({ ...keyPlaceOf(host), blob })))
    say(`wrote ${counted((await written(file, shown)).length, 'key')} to ${file}`)
  }
}

const keyStates = (keys: ScannedHost['keys']): readonly string[] => keys.map(({ state }) => state)

const written = async (file: string, shown: Parameters<typeof appendHostKeys>[1]) => {
  try {
    return await appendHostKeys(file, shown)
  } catch (thrown) {
    throw new DroverError({
      code: 'known-hosts-unreadable',
      message: `The keys cannot be written to ${file}: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      remedy: 'Make the file writable for this user, or name another with --known-hosts.',
      cause: thrown,
    })
  }
}

const confirmed = async ({ ask }: WholeContext, question: string): Promise<boolean> => {
  for (;;) {
    const answer = (await ask({ text: `${question} yes/no: `, isHidden: false }))?.trim().toLowerCase()
    if (answer === 'yes') return true
    if (answer === undefined || answer === 'no' || answer === '') return false
  }
}

const exitOf = (scanned: readonly ScannedHost[]): number => {
  const codes = scanned.flatMap(keyErrors).map(({ code }) => code)
  const isWrong = scanned.some(({ keys }) =>
    keyStates(keys).some((state) => state === 'changed' || state === 'revoked'),
  )
  return isWrong ? 2 : codes.length > 0 ? 4 : 0
}

/** Two machines that known_hosts cannot tell apart, since they have one address behind different jump hosts, or one alias. */
const differ = (one: ScannedHost, other: ScannedHost): boolean => {
  if (one === other || one.file !== other.file) return false
  const [a, b] = [keyPlaceOf(one.host), keyPlaceOf(other.host)]
  if (a.address !== b.address || a.port !== b.port) return false
  return one.keys.some(({ blob }) =>
    other.keys.some((key) => keyTypeOf(key.blob) === keyTypeOf(blob) && !key.blob.equals(blob)),
  )
}
