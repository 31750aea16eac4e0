import { InputError, type InputFault } from '../errors.ts'
import { Secret } from '../secret.ts'

/** Linux takes no longer text from one program to another, name and end included. */
const sizeLimit = 131_072

/**
 * An environment file of systemd, which hands each value to a process as it is given here. Values stand in double
 * quotes, where nothing is expanded and only these two characters are special.
 */
export const envFile = (vars: readonly (readonly [name: string, value: string | Secret])[]): Secret => {
  const faults = vars.flatMap(([name, value]) => faultOf(name, textOf(value)))
  if (faults.length > 0) throw new InputError('provision-invalid', faults)
  return new Secret(vars.map(([name, value]) => `${name}="${textOf(value).replaceAll(/["\\]/g, '\\$&')}"\n`).join(''))
}

const textOf = (value: string | Secret): string => (value instanceof Secret ? value.reveal() : value)

/** What systemd would cut, join or drop. No message holds the value. */
const unfit: readonly (readonly [is: (value: string) => boolean, message: string, remedy: string])[] = [
  [
    (value) => /[\n\r]/.test(value),
    'The value holds a newline, and a value of an environment file is one line.',
    'Take the newline out; one at the end of a secret may be left by what wrote it.',
  ],
  [(value) => value.includes('\0'), 'The value holds a NUL character.', 'Take it out.'],
  [
    (value) => !value.isWellFormed() || /\p{Noncharacter_Code_Point}/u.test(value),
    'The value holds what is no Unicode character, and systemd would drop it.',
    'Take it out, or write it in another form, such as base64.',
  ],
]

const faultOf = (name: string, value: string): InputFault[] => {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Error('an environment variable has an impossible name')
  const faults = unfit.flatMap(([is, message, remedy]) => (is(value) ? [{ file: name, message, remedy }] : []))
  if (Buffer.byteLength(`${name}=${value}`) < sizeLimit) return faults
  const message = 'The value is longer than an environment variable can be.'
  return [...faults, { file: name, message, remedy: 'Put what is long into base_config, which is a file.' }]
}
