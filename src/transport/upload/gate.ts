/** Holds a sender back until the far side has taken what is on its way. */
export interface Gate {
  /** Resolves to true when so many more bytes may be sent, to false when none may any more. */
  pass(bytes: number): Promise<boolean>
  /** The far side has this many bytes of all. */
  acknowledge(total: number): void
  /** Lets everybody go who waits, with nothing. */
  close(): void
}

export const createGate = (windowBytes: number): Gate => {
  let sent = 0
  let taken = 0
  let isClosed = false
  let waiting: (() => void) | undefined
  const wake = (): void => {
    waiting?.()
    waiting = undefined
  }
  return {
    pass: async (bytes) => {
      // More than a window at once has to go when all before it has arrived.
      while (!isClosed && sent > taken && sent + bytes - taken > windowBytes)
        await new Promise<void>((resolve) => {
          waiting = resolve
        })
      sent += bytes
      return !isClosed
    },
    acknowledge: (total) => {
      taken = Math.max(taken, total)
      wake()
    },
    close: () => {
      isClosed = true
      wake()
    },
  }
}
