import * as http from 'node:http'
import { DroverError } from '../errors.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface Proxying {
  readonly env: Environment
  readonly fetch: typeof fetch
  /** Absent before Node 24.14. */
  readonly setProxy: (() => unknown) | undefined
}

/** The fetch of Node by HTTPS_PROXY and NO_PROXY, which it heeds only when told to. A Node that cannot be told goes round no proxy. */
export const createProxiedFetch = ({ env, fetch, setProxy }: Proxying): typeof fetch => {
  let isSet = false
  // One for all: what is wrong with each download is told once.
  const cannot = tooOld()
  return async (input, init) => {
    if (!isSet) setProxy?.()
    isSet = true
    if (setProxy === undefined && isProxied(input, env)) throw cannot
    return fetch(input, init)
  }
}

/** Whether the environment wants this request to go through a proxy, and Node was not started so that it does. */
const isProxied = (input: Parameters<typeof fetch>[0], env: Environment): boolean => {
  const proxy = env.https_proxy || env.HTTPS_PROXY || env.http_proxy || env.HTTP_PROXY
  if (!proxy || env.NODE_USE_ENV_PROXY === '1') return false
  const { hostname, port } = new URL(input instanceof Request ? input.url : input)
  return !(env.no_proxy || env.NO_PROXY || '').split(/[\s,]+/).some((entry) => {
    const [, domain = '', only] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
    if (entry === '*') return true
    if (domain === '' || (only !== undefined && only !== (port || '443'))) return false
    return hostname === domain || hostname.endsWith(`.${domain}`)
  })
}

const tooOld = (): DroverError =>
  new DroverError({
    code: 'release-unavailable',
    message: `A proxy is set in the environment, and this Node (${process.version}) cannot be told to use it; nothing was downloaded past it.`,
    remedy: 'Use Node 24.14 or newer, or set NODE_USE_ENV_PROXY=1, or name the release as a file.',
  })

export const proxiedFetch: typeof fetch = createProxiedFetch({
  env: process.env,
  fetch: (...request) => fetch(...request),
  setProxy: 'setGlobalProxyFromEnv' in http ? http.setGlobalProxyFromEnv : undefined,
})
