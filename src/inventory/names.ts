import { isIPv6 } from 'node:net'
import { withoutUrlSecrets } from './shown-urls.ts'

/** What is wrong with a name, and what to do about it. */
export interface Problem {
  readonly message: string
  readonly remedy: string
}

const hostText = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/
const userText = /^[A-Za-z0-9_][A-Za-z0-9._@-]*\$?$/
const hostLength = 253
const userLength = 128

/** For host names, group names and addresses alike: nothing that a shell, an option parser or a path could read otherwise. */
export const nameProblem = (what: string, text: string): Problem | undefined => {
  if (text === '') return { message: `The ${what} is empty.`, remedy: `Write ${article(what)}.` }
  if (text.startsWith('-')) return optionLike(what, text)
  if (text.length > hostLength) {
    return { message: `The ${what} is longer than ${hostLength} characters.`, remedy: `Write a shorter one.` }
  }
  if (hostText.test(text) || isIPv6(text)) return undefined
  return { message: `${quoted(text)} cannot be ${article(what)}.`, remedy: remedyFor(text) }
}

export const userProblem = (text: string): Problem | undefined => {
  if (text.startsWith('-')) return optionLike('user', text)
  if (text.length <= userLength && userText.test(text)) return undefined
  return {
    message: `${quoted(text)} cannot be a user.`,
    remedy: 'Use letters, digits and . _ - @, beginning with a letter, a digit or _.',
  }
}

const article = (noun: string): string => `${/^[aei]/.test(noun) ? 'an' : 'a'} ${noun}`

const optionLike = (what: string, text: string): Problem => ({
  message: `The ${what} ${quoted(text)} begins with -, as an option does.`,
  remedy: `Write ${article(what)} that begins with a letter or a digit.`,
})

const remedyFor = (text: string): string => {
  const bracketed = /^\[(.*)\]$/.exec(text)?.[1]
  if (bracketed !== undefined && isIPv6(bracketed)) return `Write ${bracketed} without brackets.`
  if (/^[^:]+:\d+$/.test(text) || /^\[.*\]:\d+$/.test(text)) return 'Give the port by port:, not after a colon.'
  if (text.includes('@')) return 'Give the user by user:, not before an @.'
  return 'Use letters, digits and . _ -, or an IPv6 address; nothing else, and no blanks.'
}

/** For messages: control characters become visible, long texts short, and what is secret in an URL is left out. */
export const quoted = (text: string): string => {
  const shown = withoutUrlSecrets(text)
  return JSON.stringify(shown.length > 80 ? `${shown.slice(0, 80)}…` : shown)
}
