import { posix } from 'node:path'
import { Secret } from '../secret.ts'
import { agentUnit } from '../tasks/agent/names.ts'
import { credentialsDirectory, firstBootDirectory, unitDirectory } from '../tasks/agent/paths.ts'
import { dig } from '../tasks/config/dig.ts'
import { isMapping } from '../tasks/config/render.ts'
import { unitName } from './unit.ts'

export interface Merged {
  readonly text: Secret
  /** Whether it lets somebody log in, as far as it can be seen: what it fetches from elsewhere may. */
  readonly mayLetIn: boolean
}

interface Fault {
  readonly message: string
  readonly remedy: string
}

/** The user's own Ignition. It wins over what it is merged into, so what would undo the bootstrap is refused. */
export const readMerge = (text: string): Merged | Fault => {
  const config = parsed(text)
  const version = dig(config, 'ignition.version')
  if (!isMapping(config) || typeof version !== 'string') {
    const remedy = 'Give the JSON that butane makes of a Butane config, not the YAML.'
    return { message: 'This is no Ignition: no JSON with a version of it.', remedy }
  }
  if (!/^3\.[0-4]\.0$/.test(version)) {
    const remedy = 'Render it again as version 3.4.0 or older; butane does so for variant flatcar, version 1.1.0.'
    return { message: 'This is a version of Ignition that cannot be merged into 3.4.0.', remedy }
  }
  const clash = clashes(config)
  if (clash.length > 0) {
    const message = `It says of ${clash.join(' and ')} what would go over what the bootstrap is made of.`
    return { message, remedy: 'Take that out of it.' }
  }
  return { text: new Secret(text), mayLetIn: mayLetIn(config) }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const listAt = (config: unknown, path: string): readonly unknown[] => {
  const value = dig(config, path)
  return Array.isArray(value) ? value : []
}

const ownUnits: readonly string[] = [unitName, agentUnit]
const ownPaths: readonly string[] = [
  firstBootDirectory,
  credentialsDirectory,
  ...ownUnits.flatMap((unit) => [`${unitDirectory}/${unit}`, `${unitDirectory}/${unit}.d`]),
]

/** A link or a mode above a path changes what lies at it, and a preset decides whether the unit is enabled. */
const touchesBootstrap = (given: string): boolean => {
  const path = posix.normalize(given).replace(/\/+$/, '')
  const parts = path.split('/')
  return (
    ownPaths.some((own) => own === path || own.startsWith(`${path}/`) || path.startsWith(`${own}/`)) ||
    ownUnits.some((unit) => parts.includes(unit) || parts.includes(`${unit}.d`)) ||
    parts.includes('system-preset')
  )
}

const clashes = (config: unknown): readonly string[] => {
  const paths = ['files', 'directories', 'links'].flatMap((kind) => listAt(config, `storage.${kind}`))
  const below = paths.map((node) => dig(node, 'path')).filter((path) => typeof path === 'string')
  const units = listAt(config, 'systemd.units').map((unit) => dig(unit, 'name'))
  return [
    ...below.filter(touchesBootstrap),
    ...ownUnits.filter((unit) => units.includes(unit)),
    ...(dig(config, 'ignition.config.replace') === undefined ? [] : ['ignition.config.replace']),
  ]
}

const mayLetIn = (config: unknown): boolean =>
  listAt(config, 'ignition.config.merge').length > 0 ||
  listAt(config, 'passwd.users').some(
    (user) => listAt(user, 'sshAuthorizedKeys').length > 0 || typeof dig(user, 'passwordHash') === 'string',
  )
