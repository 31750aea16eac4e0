import { createPaint, type Paint } from '../report/paint.ts'
import type { CliContext, TextOutput } from './context.ts'

/** FORCE_COLOR before NO_COLOR before the terminal, as Node and most tools do. */
export const hasColour = ({ env }: Pick<CliContext, 'env'>, output: TextOutput): boolean => {
  const force = env.FORCE_COLOR
  if (force !== undefined) return force !== '0' && force !== 'false'
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false
  return output.isTTY && env.TERM !== 'dumb'
}

export const paintFor = (context: Pick<CliContext, 'env'>, output: TextOutput): Paint =>
  createPaint(hasColour(context, output))
