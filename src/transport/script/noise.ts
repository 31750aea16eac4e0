import { printableText as printable } from '../../printable.ts'
import { answerOf, type Become } from '../become/become.ts'
import { withoutAsk } from '../become/become-command.ts'

const maxLines = 20
const maxText = 2_000

/**
 * What others than our script wrote, as an error may show it: the end of it, without our own marks, and without the
 * password even if something on the host has echoed it.
 */
export const noiseText = (
  bytes: Uint8Array,
  { become, askToken }: { become: Become | null; askToken: string },
): string => {
  const said = withoutAsk(Buffer.from(bytes).toString('utf8'), askToken)
  const password = answerOf(become)?.reveal()
  const safe = password ? said.replaceAll(password, '[password]') : said
  const lines = printable(safe).trim().split('\n').slice(-maxLines).join('\n')
  return lines.length > maxText ? `...${lines.slice(-maxText)}` : lines
}

/** The last thing said that is no mere warning. */
export const lastWords = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/unable to resolve host/.test(line))
    .at(-1) ?? ''
