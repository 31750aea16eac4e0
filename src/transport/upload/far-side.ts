import { readFileSync } from 'node:fs'
import { DroverError } from '../../errors.ts'
import { printableText as printable } from '../../printable.ts'
import type { ScriptAnswer, ScriptRequest } from '../script/run-script.ts'

/** A script that an upload has run on the host, with root rights where the host gives them. */
type UploadScript = Pick<
  ScriptRequest,
  'script' | 'args' | 'payload' | 'deadlineMs' | 'maxBytes' | 'onStdout' | 'signal'
>

/** The host that is uploaded to. */
export interface FarSide {
  /** Of the run: by this it knows its own receiver again. */
  readonly run: string
  exec(script: UploadScript): Promise<ScriptAnswer>
  /** Resolves when the host is reached again, rejects when it is not to be. */
  reconnect(why: DroverError): Promise<void>
}

/** The text of one of the scripts of this folder, with the functions of both, without the lines that are only a comment. */
export const scriptText = (name: 'probe' | 'receive'): string => {
  const known = texts.get(name)
  if (known !== undefined) return known
  const text = ['fit', name].map(withoutComments).join('')
  texts.set(name, text)
  return text
}

const withoutComments = (name: string): string =>
  readFileSync(new URL(`./${name}.sh`, import.meta.url), 'utf8').replace(/^[ \t]*#.*\n/gm, '')

const texts = new Map<string, string>()

export const wordsOf = ({ stderr }: ScriptAnswer): string => printable(stderr.toString('utf8')).trim()

export const uploadFailed = (path: string, why: string, words = '', remedy = readWords): DroverError =>
  new DroverError({
    code: 'upload-failed',
    message: `The file ${path} could not be brought to the host: ${why}.`,
    remedy,
    ...(words !== '' && { detail: words }),
  })

const readWords = 'Read what the host says below and mend its cause, then run again: what has arrived is kept.'
