import type { Answer } from './ask-ssh.ts'
import type { Evaluated } from './evaluate.ts'

/** Keywords whose words are one value, as `ssh -G` prints them on a line each. */
const listed = new Set(['identityfile', 'certificatefile', 'setenv', 'sendenv'])
const times = new Set(['serveraliveinterval', 'connecttimeout'])
/** Lists that add to a default, which only ssh knows. */
const isRelative = (value: string): boolean => /^[-+^]/.test(value)

/**
 * What drover reads out of the files itself, in the form of `ssh -G`, without the defaults. Match lines that run a
 * command or look at the network do not hold, names are not canonicalised, and faults in the files are not found.
 */
export const answerWithoutSsh = ({ values, hostname }: Evaluated): Answer => {
  const answer = new Map<string, readonly string[]>([['hostname', [hostname]]])
  for (const [keyword, directives] of values) {
    if (keyword === 'hostname') continue
    const texts = directives.flatMap(({ args }) => (listed.has(keyword) ? args : [args.join(' ')]))
    const plain = texts.map((text) => plainValue(keyword, text)).filter((text) => text !== undefined)
    if (plain.length > 0) answer.set(keyword, plain)
  }
  return answer
}

const plainValue = (keyword: string, text: string): string | undefined => {
  if (keyword === 'hostkeyalias') return text.toLowerCase()
  if (keyword === 'proxyjump' && text.toLowerCase() === 'none') return undefined
  if (keyword === 'proxycommand' && text.toLowerCase() === 'none') return undefined
  if (times.has(keyword)) return text === 'none' ? text : String(secondsIn(text))
  if (/^(kexalgorithms|ciphers|macs|hostkeyalgorithms|pubkeyacceptedalgorithms)$/.test(keyword) && isRelative(text))
    return undefined
  return text
}

const unitSeconds: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** `90`, `1m30s`; what is no time counts as none. */
const secondsIn = (text: string): number =>
  /^(\d+[smhdw]?)+$/i.test(text)
    ? [...text.toLowerCase().matchAll(/(\d+)([smhdw]?)/g)].reduce(
        (sum, [, digits, unit = '']) => sum + Number(digits) * (unitSeconds[unit] ?? 0),
        0,
      )
    : 0
