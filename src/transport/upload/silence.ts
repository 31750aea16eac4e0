import { DroverError } from '../../errors.ts'

/** Fires when a host has not been heard of for too long, although it is its turn. */
export interface Silence {
  readonly signal: AbortSignal
  /** A sign of life: from here on it may be silent for so long. */
  broken(forMs: number): void
  /** Whatever the work takes, it is not the host that is waited for. */
  during<T>(work: () => Promise<T>): Promise<T>
  end(): void
}

export const createSilence = (firstMs: number): Silence => {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let allowedMs = firstMs
  let [isExcused, isOver] = [false, false]
  const arm = (): void => {
    clearTimeout(timer)
    if (isExcused || isOver) return
    const forMs = allowedMs
    timer = setTimeout(() => controller.abort(silent(forMs)), forMs)
  }
  arm()
  return {
    signal: controller.signal,
    broken: (forMs) => {
      allowedMs = forMs
      arm()
    },
    during: async (work) => {
      isExcused = true
      clearTimeout(timer)
      try {
        return await work()
      } finally {
        isExcused = false
        arm()
      }
    },
    end: () => {
      isOver = true
      clearTimeout(timer)
    },
  }
}

const silent = (forMs: number): DroverError =>
  new DroverError({
    code: 'connection-lost',
    message: `The host has taken nothing of what was sent to it for ${forMs / 1000} s.`,
    remedy: 'See what became of the host, its disk and the network; then run again: what has arrived is kept.',
  })
