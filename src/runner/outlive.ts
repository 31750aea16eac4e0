import { DroverError } from '../errors.ts'
import type { Link } from './link.ts'

/** Losses in a row after which it is no accident: the command itself may be what brings the connection down. */
const mostLosses = 3

export const isLost = (thrown: unknown): thrown is DroverError =>
  thrown instanceof DroverError && thrown.code === 'connection-lost'

/** For what may be done twice, such as a look: does it once more for each loss of the connection. */
export const outlive = async <T>(link: Pick<Link, 'reconnect'>, attempt: () => Promise<T>): Promise<T> => {
  for (let losses = 1; ; losses += 1) {
    try {
      return await attempt()
    } catch (thrown) {
      if (!isLost(thrown) || losses > mostLosses) throw thrown
      await link.reconnect(thrown)
    }
  }
}
