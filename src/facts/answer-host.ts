import { AnswerError } from './answer-error.ts'
import { type Lines, records, text, wordsOf } from './lines.ts'
import type { OsFacts, OsFamily, SelfFacts } from './state.ts'

export const osFacts = (lines: Lines): OsFacts => {
  const values = new Map(lines.map((line) => [wordsOf(line)[0] ?? '', wordsOf(line).slice(1).join(' ')]))
  const missing = always.find((word) => !values.has(word))
  if (missing !== undefined) throw new AnswerError('os', `it does not say '${missing}'`)
  const release = keyValues(text(values.get('release')))
  const manager = keyValues(text(values.get('manager')))
  const id = release.get('ID') ?? ''
  const idLike = (release.get('ID_LIKE') ?? '').split(' ').filter((word) => word !== '')
  const variantId = release.get('VARIANT_ID') ?? ''
  return {
    id,
    idLike,
    variantId,
    versionId: release.get('VERSION_ID') ?? '',
    prettyName: release.get('PRETTY_NAME') ?? id,
    family: osFamily(id, idLike, variantId),
    architecture: values.get('machine') ?? '',
    systemdVersion: Number.parseInt(/^(?:systemd )?(\d+)/.exec(manager.get('Version') ?? '')?.[1] ?? '0', 10),
    virtualization: manager.get('Virtualization') ?? '',
    systemState: manager.get('SystemState') ?? '',
    bootId: values.get('boot') ?? '',
    pid1Start: values.get('pid1') ?? '',
    machineId: values.get('id') ?? '',
    uptimeS: Number(values.get('uptime') ?? 0),
    selinux: values.get('selinux') === '1' ? 'enforcing' : values.get('selinux') === '0' ? 'permissive' : 'disabled',
    uid: Number(values.get('uid') ?? -1),
    clockS: Number(values.get('clock') ?? 0),
    isSystemd: values.get('systemd') === 'yes',
  }
}

/** What every Linux can say of itself. A host without it has not been read. */
const always = ['machine', 'boot', 'pid1', 'uptime', 'uid', 'clock', 'manager']

/** domain.md 12: an ACL image may be known by VARIANT_ID, or by ID_LIKE=flatcar alone. */
const osFamily = (id: string, idLike: readonly string[], variantId: string): OsFamily => {
  if (variantId === 'azurecontainerlinux' || id === 'flatcar' || idLike.includes('flatcar')) return 'acl'
  const names = [id, ...idLike]
  if (names.some((name) => ['rhel', 'rocky', 'almalinux', 'centos', 'fedora'].includes(name))) return 'rhel'
  if (names.includes('ubuntu')) return 'ubuntu'
  return names.includes('debian') ? 'debian' : 'other'
}

/** `KEY=value` lines, values perhaps in quotes, as os-release and `systemctl show` write them. */
const keyValues = (source: string): Map<string, string> => {
  const all = new Map<string, string>()
  for (const line of source.split('\n')) {
    const cut = line.indexOf('=')
    if (cut <= 0) continue
    const value = line.slice(cut + 1)
    const quoted = /^(["'])(.*)\1$/.exec(value)
    all.set(line.slice(0, cut), quoted?.[2] ?? value)
  }
  return all
}

export const selfFacts = (lines: Lines, leftovers: Lines): SelfFacts => {
  if (lines.at(-1) !== 'whole yes') throw new AnswerError('self', 'the answer stops here')
  const all = lines.map(wordsOf)
  const of = (word: string): string[] | undefined => all.find(([first]) => first === word)
  const lease = of('lease')
  const [run = '', owner = '', , since = ''] = text(lease?.[2]).trim().split(' ')
  const rollback = of('rollback')
  const applying = of('applying')
  return {
    lease: lease === undefined ? null : { run, owner, since, ageS: Number(lease[1]) },
    applying: applying === undefined ? null : text(applying[1]).trim(),
    owed: all.filter(([word]) => word === 'owed').map(([, name]) => text(name)),
    rollback:
      rollback === undefined
        ? null
        : {
            phase: rollback[1] as 'armed' | 'undoing' | 'rolled-back',
            text: text(rollback[2]).trim(),
            ...(rollback[3] === 'proved' && { isProved: true as const }),
          },
    leftovers: records(leftovers[0]),
  }
}
