import { z } from 'zod'
import { Secret } from '../secret.ts'
import type { Architecture, BinarySource, Release } from './release.ts'

/** One message whatever stands there: the default ones show the value, and this one may hold a signature. */
const always = (message: string) => ({ error: () => message })

/** The same for a mapping, whose unknown keys are told elsewhere. */
const noMapping = (message: string) => ({
  error: (issue: { readonly code: string }) => (issue.code === 'invalid_type' ? message : undefined),
})

const noVersion =
  'This is no version.\nWrite it as the release has it, such as v0.4.1, in quotes where it looks like a number.'
const version = z.string(always(noVersion)).regex(/^[\x21-\x7e]{1,100}$/, noVersion)

const noDigest = 'This is no SHA-256 digest.\nWrite its 64 hexadecimal digits, as sha256sum prints them.'
const digest = z
  .string(always(noDigest))
  .regex(/^(?:sha256:)?[0-9a-f]{64}$/i, noDigest)
  .transform((text) => text.slice(-64).toLowerCase())

const noFile = 'This is no path.\nName the binary, or the .tar.gz archive that holds it, on this machine.'

const noUrl = 'This is no URL that releases can be had from.\nWrite https://..., without a user, a password or a #.'

const isHttps = (text: string): boolean => {
  const url = URL.parse(text)
  return url?.protocol === 'https:' && url.username === '' && url.password === '' && !text.includes('#')
}

const url = z.custom<string | Secret>(
  (value) => (typeof value === 'string' && isHttps(value)) || (value instanceof Secret && isHttps(value.reveal())),
  noUrl,
)

const source = z
  .strictObject(
    {
      file: z
        .string(always(noFile))
        .min(1, noFile)
        .exactOptional()
        .describe('the binary or its archive, on this machine'),
      url: url.exactOptional().describe('where it is downloaded from, https only; may be a secret'),
      sha256: digest.describe('SHA-256 of the file, or of what the URL gives'),
      binarySha256: digest.exactOptional().describe('SHA-256 of the binary in the archive'),
    },
    noMapping('A mapping belongs here.\nGive a file or a url, and its sha256.'),
  )
  .refine(
    ({ file, url }) => (file === undefined) !== (url === undefined),
    'The release comes from one place.\nGive either a file or a url.',
  )

/** A release of the agent as a parameter of a task. What it names is fetched and checked before any host is touched. */
export const releaseParam = z
  .strictObject(
    {
      version: version.describe('what the binary says of itself when it is asked for its version'),
      hostRootSince: version.exactOptional().describe('the first version that knows the host root'),
      amd64: source.exactOptional().describe('the binary for x86_64'),
      arm64: source.exactOptional().describe('the binary for aarch64'),
    },
    noMapping('A release belongs here.\nGive a mapping with its version, and amd64 or arm64 or both.'),
  )
  .refine(
    ({ amd64, arm64 }) => amd64 !== undefined || arm64 !== undefined,
    'The release has no binary.\nGive amd64 or arm64 or both, each with a file or a url and its sha256.',
  )
  .transform(({ version, hostRootSince, amd64, arm64 }): Release => {
    const sources: Partial<Record<Architecture, BinarySource>> = { ...(amd64 && { amd64 }), ...(arm64 && { arm64 }) }
    return { version, ...(hostRootSince !== undefined && { hostRootSince }), sources }
  })
