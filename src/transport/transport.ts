import type { Transport } from './connection.ts'
import { createSsh2Transport, type TransportOptions } from './ssh2-transport.ts'

export type { TransportOptions } from './ssh2-transport.ts'

/** The transport of drover: for each host the client that it calls for. */
export const createTransport = (options: TransportOptions): Transport => createSsh2Transport(options)
