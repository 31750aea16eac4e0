import type { TransportNotice } from './connection.ts'

/** Tells each notice about each host once. */
export const onceEach = (tell: (notice: TransportNotice) => void): ((notice: TransportNotice) => void) => {
  const told = new Set<string>()
  return (notice) => {
    const key = JSON.stringify([notice.host, notice.message])
    if (!told.has(key)) tell(notice)
    told.add(key)
  }
}
