import { printable } from '../printable.ts'
import { shellQuote } from '../quote.ts'

/** One word of a command that is suggested: quoted where the operator's shell needs that, harmless to the terminal. */
export const word = (text: string): string => (/^[A-Za-z0-9._/,:@-]+$/.test(text) ? text : shellQuote(printable(text)))
