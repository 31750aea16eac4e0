// Waiting, always with an end.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Ask until the answer is not undefined. After `timeoutMs` it is an error that says what was waited for and what was seen last. */
export async function until<T>(
  what: string,
  timeoutMs: number,
  ask: () => Promise<T | undefined>,
  everyMs = 100,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  let last: unknown = 'nothing yet'
  for (;;) {
    try {
      const answer = await ask()
      if (answer !== undefined) return answer
    } catch (error) {
      last = error // a host that is just rebooting answers with errors
    }
    if (Date.now() > deadline) throw new Error(`${what}: not within ${timeoutMs / 1000} s`, { cause: last })
    await sleep(everyMs)
  }
}

/** True if an SSH server greets at the address. */
export function sshAnswers(address: string, port = 22, timeoutMs = 2000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port })
    const end = (answer: boolean): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(timeoutMs, () => end(false))
    socket.once('data', (greeting) => end(greeting.toString('latin1').startsWith('SSH-')))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
  })
}
