const sliceMs = 500

/**
 * Calls back when so much time has passed in which this process could work. A machine that is overrun would else count
 * against the far side the time in which it could not even read the answer: what has arrived is read first.
 */
export const startDeadline = (deadlineMs: number, onLate: () => void): (() => void) => {
  let leftMs = deadlineMs
  let timer: NodeJS.Timeout | undefined
  let last: NodeJS.Immediate | undefined
  const next = (): void => {
    const nowMs = Math.min(leftMs, sliceMs)
    leftMs -= nowMs
    timer = setTimeout(() => {
      if (leftMs > 0) next()
      else last = setImmediate(onLate)
    }, nowMs)
  }
  next()
  return () => {
    clearTimeout(timer)
    if (last !== undefined) clearImmediate(last)
  }
}
