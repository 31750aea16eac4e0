import { getSystemErrorMessage } from 'node:util'
import { DroverError } from '../errors.ts'
import { Secret } from '../secret.ts'
import type { Architecture, BinarySource } from './release.ts'

/** What a message is about: never with the query of a URL, which may be a signature. */
export interface Subject {
  /** `agent v0.4.1 for amd64`. */
  readonly what: string
  /** The file, or the URL as it may be shown. */
  readonly from: string
}

export const subjectOf = (version: string, architecture: Architecture, { file, url }: BinarySource): Subject => ({
  what: `agent ${version} for ${architecture}`,
  from: file ?? (url === undefined ? 'nowhere' : shownUrl(url)),
})

const shownUrl = (url: string | Secret): string => {
  const parsed = URL.parse(url instanceof Secret ? url.reveal() : url)
  if (parsed === null) return 'an URL'
  return url instanceof Secret ? `https://${parsed.host}/[secret]` : `https://${parsed.host}${parsed.pathname}`
}

export interface Trouble {
  readonly problem: string
  readonly remedy: string
  readonly detail?: string
}

export const invalid = (subject: Subject, trouble: Trouble): DroverError => fault('release-invalid', subject, trouble)

export const unavailable = (subject: Subject, trouble: Trouble): DroverError =>
  fault('release-unavailable', subject, trouble)

// Without the cause: what fetch throws may have the whole URL in it.
const fault = (
  code: 'release-invalid' | 'release-unavailable',
  { what, from }: Subject,
  { problem, ...rest }: Trouble,
): DroverError => new DroverError({ code, message: `${what} (${from}): ${problem}`, ...rest })

/** Why it failed, by the code of a system, TLS or fetch error: their messages may hold the whole URL. */
export const reasonOf = (thrown: unknown): string => {
  for (let at: unknown = thrown; at instanceof Error; at = at.cause) {
    const refusal = /^Proxy response \((\d{3})\)/.exec(at.message)
    if (refusal !== null) return `the proxy answered ${refusal[1]}`
    if (!('code' in at && typeof at.code === 'string')) continue
    const said = 'errno' in at && typeof at.errno === 'number' ? getSystemErrorMessage(at.errno) : undefined
    return said === undefined ? at.code : `${said} (${at.code})`
  }
  return 'the request failed, for no reason that was told'
}
