import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import type { HostState } from '../facts/state.ts'
import { canonical, lookUp } from '../facts/tree.ts'
import { Unknown } from '../facts/unknown.ts'
import { Secret } from '../secret.ts'
import type { Change, Condition } from './change.ts'
import { contentBytes } from './predict.ts'

/** One line, for the plan, the screen, the report and the host's own journal. Never holds a secret. */
export const summaryOf = (change: Change): string => {
  switch (change.kind) {
    case 'write':
      return `write ${change.path} (${octal(change.mode)} ${change.owner}, ${contentBytes(change.content).length} bytes)`
    case 'link':
      return `link ${change.path} -> ${change.target}`
    case 'directory':
      return `create directory ${change.path} (${octal(change.mode)} ${change.owner})`
    case 'attributes':
      return `set ${change.path} to ${octal(change.mode)} ${change.owner}`
    case 'rename':
      return `rename ${change.from} to ${change.to}`
    case 'remove':
      return `remove ${change.path}${change.recurse ? ' and all in it' : ''}`
    case 'systemctl':
      return change.verb === 'daemon-reload' ? 'systemctl daemon-reload' : `systemctl ${change.verb} ${change.unit}`
    case 'package':
      return `install ${change.install.join(', ')} with ${change.manager}`
    case 'await':
      return `wait until ${conditionText(change.condition)}${change.stableMs > 0 ? ` for ${change.stableMs / 1000} s` : ''}${change.orGoOn ? `, or for ${change.withinMs / 1000} s` : ''}`
    case 'reboot':
      return 'reboot'
    case 'upload':
      return `upload ${change.path} (${octal(change.mode)} ${change.owner}, ${change.artifact.size} bytes, sha256 ${change.artifact.sha256.slice(0, 12)})`
    case 'copy':
      return `copy ${change.from} to ${change.path} (${octal(change.mode)} ${change.owner}, ${change.size} bytes)`
    case 'hold':
      return `hold the lock ${change.lock}`
    case 'release':
      return `let go of the lock ${change.lock}`
    case 'arm':
      return `arm the rollback of the ${change.what}: it fires after ${change.withinMs / 1000} s, and at a boot before that`
    case 'confirm':
      return `disarm the rollback of run ${change.run}`
    case 'fire':
      return `fire the rollback of run ${change.run}`
    case 'run':
      return `run ${change.argv.map(word).join(' ')}`
  }
}

const word = (text: string): string => (/^[\w./:=@%+,-]+$/.test(text) ? text : JSON.stringify(text))

/** What stands behind the question mark may be a signature, and what stands before the @ a password. */
const withoutSecrets = (url: string): string => url.replace(/[?#].*$/s, '').replace(/^([^:/]*:[/\\]*)[^/\\]*@/, '$1')

const conditionText = (condition: Condition): string => {
  switch (condition.is) {
    case 'active':
      return `${condition.unit} is active`
    case 'untouched':
      return `${condition.unit} is seen to be untouched`
    case 'running':
      return `machine ${condition.machine} is running`
    case 'startable':
      return `${condition.unit} has room for a start`
    case 'running-from':
      return `${condition.unit} runs ${condition.exe}`
    case 'succeeding':
      return `${condition.command.map(word).join(' ')} ${condition.line === undefined ? 'succeeds' : `says ${word(condition.line)}`}`
    case 'gone':
      return `${condition.path} is gone`
    case 'answering':
      return `${withoutSecrets(condition.url)} answers`
  }
}

/** A change names the real place of a file; the fact that made it secret may have named it through a link. */
const isSecretPlace = ({ tree, secretPaths }: HostState, path: string): boolean => {
  const place = canonical(tree, path, true)
  return secretPaths.has(path) || [...secretPaths].some((secret) => canonical(tree, secret, true) === place)
}

/** What the change does to content, against the state it was planned on; undefined where there is nothing to see. */
export const diffOf = (state: HostState, change: Change): string | undefined => {
  if (change.kind !== 'write') return undefined
  const node = lookUp(state.tree, change.path)
  const before = node === undefined || node instanceof Unknown || node.type !== 'file' ? undefined : node
  if (change.content instanceof Secret || isSecretPlace(state, change.path)) {
    // Not even digests: a short secret is found from its own by trying.
    const isKnown = typeof before?.sha256 === 'string'
    return `content is secret: ${isKnown ? 'it becomes another' : 'nothing is known of what is there'}\n`
  }
  // Of a long file only its beginning was read.
  if (before !== undefined && !(before.content instanceof Uint8Array && before.content.length >= before.size))
    return undefined
  const old = before?.content instanceof Uint8Array ? new TextDecoder().decode(before.content) : ''
  const oldName = before === undefined ? '/dev/null' : change.path
  return createTwoFilesPatch(oldName, change.path, old, change.content, undefined, undefined, {
    context: 3,
    headerOptions: FILE_HEADERS_ONLY,
  })
}

const octal = (mode: number): string => mode.toString(8).padStart(4, '0')
