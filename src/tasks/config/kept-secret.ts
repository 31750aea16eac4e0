import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { warning } from '../agent/finding.ts'
import { configFile } from '../agent/paths.ts'
import { keyValues } from '../agent/probe-answer.ts'
import type { Finding } from '../task.ts'
import { type SeenSecret, secretFault } from './secret-files.ts'

export const keptSecretFacts = (): Fact[] => [{ kind: 'probe', name: 'config-secret', args: [configFile] }]

/** The secret file that the configuration of the host names, judged as one that a given configuration names. */
export const keptSecret = (view: HostView, path: string): ErrorDetails | Finding | null => {
  const answer = keyValues(view.probe('config-secret', [configFile]).stdout)
  const seen = answer.get('path') === path ? seenSecret(answer) : null
  if (seen !== null) return secretFault(path, seen)
  return warning({
    check: 'secret-file-not-seen',
    target: path,
    message: `${configFile} names ${path} for a secret, and drover could not look at it`,
    remedy: 'See by hand that it is a regular file with mode 0600, and not empty.',
  })
}

const kinds: Readonly<Record<string, SeenSecret['type']>> = {
  absent: 'absent',
  'regular file': 'file',
  'regular empty file': 'file',
  'symbolic link': 'symlink',
}

const seenSecret = (answer: ReadonlyMap<string, string>): SeenSecret | null => {
  const type = answer.get('type')
  if (type === undefined) return null
  return {
    type: kinds[type] ?? 'other',
    mode: Number.parseInt(answer.get('mode') ?? '7777', 8),
    size: Number(answer.get('size') ?? 0),
  }
}
