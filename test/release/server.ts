import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Fetch } from '../../src/release/download.ts'

export type Answer = (response: ServerResponse, request: IncomingMessage) => void

export interface Server {
  readonly fetch: Fetch
  /** Path and query of each request, in turn. */
  readonly requests: readonly string[]
}

/**
 * A real server that gives these answers, one for each request; one too many fails. `https://releases.test` leads to
 * it, and nothing else leads anywhere.
 */
export const serve = async (...answers: readonly Answer[]): Promise<Server> => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const answer = answers[requests.length]
    requests.push(request.url ?? '')
    if (answer === undefined) response.writeHead(418).end()
    else answer(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    requests,
    fetch: async (input, init) => {
      const url = new URL(String(input))
      if (url.protocol !== 'https:' || url.host !== 'releases.test') throw new Error(`${url.origin} is not to be asked`)
      return fetch(`http://127.0.0.1:${port}${url.pathname}${url.search}`, init)
    },
  }
}

export const gives =
  (content: Buffer, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    void response.writeHead(200, { 'content-length': content.length, ...headers }).end(content)

export const says =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end('no')

/** Promises all, sends half, and is gone. */
export const breaksOff =
  (content: Buffer): Answer =>
  (response) => {
    response.writeHead(200, { 'content-length': content.length })
    response.write(content.subarray(0, content.length / 2), () => response.destroy())
  }

/** Sends half and then nothing any more. */
export const hangs =
  (content: Buffer): Answer =>
  (response) => {
    response.writeHead(200, { 'content-length': content.length })
    response.write(content.subarray(0, content.length / 2))
  }

/** Sends it in fifteen parts with a pause before each. */
export const drips =
  (content: Buffer, pauseMs: number): Answer =>
  (response) => {
    response.writeHead(200, { 'content-length': content.length })
    response.flushHeaders()
    const part = Math.ceil(content.length / 15)
    const send = (at: number): void => {
      if (at >= content.length) return void response.end()
      setTimeout(() => response.write(content.subarray(at, at + part), () => send(at + part)), pauseMs)
    }
    send(0)
  }
