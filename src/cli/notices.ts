import type { TransportNotice } from '../transport/connection.ts'

/** What the transport says before anybody listens waits until somebody does. */
export interface Notices {
  take(notice: TransportNotice): void
  listen(listener: (notice: TransportNotice) => void): void
}

export const createNotices = (): Notices => {
  const waiting: TransportNotice[] = []
  let listener: ((notice: TransportNotice) => void) | undefined
  return {
    take: (notice) => (listener === undefined ? void waiting.push(notice) : listener(notice)),
    listen: (next) => {
      listener = next
      for (const notice of waiting.splice(0)) next(notice)
    },
  }
}
