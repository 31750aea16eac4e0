import { DroverError } from '../../errors.ts'
import { Setback } from '../pacing/setback.ts'
import type { SessionClient } from '../session/session-client.ts'
import { type ForwardOptions, forward } from '../ssh2/forward.ts'

export interface WhyNotOptions extends ForwardOptions {
  readonly client: SessionClient
}

/** By which an ssh that goes through another says that the jump host gave it no way; it does not say why. */
export class NoWayThrough extends Setback {}

/** Asks the jump host for the same way once more, and takes its own words for the reason. */
export const whyNotThrough = async (error: unknown, { client, ...options }: WhyNotOptions): Promise<unknown> => {
  if (!(error instanceof NoWayThrough)) return error
  try {
    const socket = await forward(client, options)
    socket.destroy()
    return error
  } catch (reason) {
    return reason instanceof DroverError ? reason : error
  }
}
