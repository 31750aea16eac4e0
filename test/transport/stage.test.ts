import { expect, test, vi } from 'vitest'
import { DroverError } from '../../src/errors.ts'
import { runStage } from '../../src/transport/stage.ts'

const failure = (code: 'connect-failed' | 'connect-timeout'): DroverError =>
  new DroverError({ code, message: code, remedy: 'none' })
const limits = { deadlineMs: 10, timeoutError: () => failure('connect-timeout') }

test('it ends with what it reports, and only the first report counts', async () => {
  const abandon = vi.fn()
  const result = runStage<string>(limits, ({ done, failed }) => {
    done('first')
    failed(failure('connect-failed'))
    return abandon
  })
  expect(await result).toBe('first')
  expect(abandon).not.toHaveBeenCalled()
})

test.each([
  ['its own failure', 'connect-failed'],
  ['the deadline', 'connect-timeout'],
  ['the signal', 'cancelled'],
] as const)('after %s it is abandoned', async (_, code) => {
  const abandon = vi.fn()
  const controller = new AbortController()
  const result = runStage<string>({ ...limits, signal: controller.signal }, ({ failed }) => {
    if (code === 'connect-failed') failed(failure(code))
    return abandon
  })
  if (code === 'cancelled') controller.abort()
  await expect(result).rejects.toMatchObject({ code })
  expect(abandon).toHaveBeenCalledOnce()
})

test('with a signal that has fired it does not start, and our own reason is passed on', async () => {
  const start = vi.fn()
  const signal = AbortSignal.abort(failure('connect-failed'))
  await expect(runStage({ ...limits, signal }, start)).rejects.toMatchObject({ code: 'connect-failed' })
  expect(start).not.toHaveBeenCalled()
})
