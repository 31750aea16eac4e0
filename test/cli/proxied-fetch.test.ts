import { expect, test } from 'vitest'
import { createProxiedFetch } from '../../src/cli/proxied-fetch.ts'

const url = 'https://releases.example.com/agent?sig=abc'
const made = (env: Readonly<Record<string, string>>, { canSet }: { canSet: boolean }) => {
  const calls: string[] = []
  const fetching = createProxiedFetch({
    env,
    fetch: async (input) => {
      calls.push(String(input))
      return new Response('')
    },
    setProxy: canSet ? () => calls.push('set') : undefined,
  })
  return { fetching, calls }
}

test('a Node that can be told is told before the first request, once', async () => {
  const { fetching, calls } = made({ HTTPS_PROXY: 'http://proxy:3128' }, { canSet: true })
  await fetching(url)
  await fetching(url)
  expect(calls).toEqual(['set', url, url])
})

test.each([
  [{ HTTPS_PROXY: 'http://proxy:3128' }],
  [{ https_proxy: 'http://proxy:3128' }],
  [{ HTTP_PROXY: 'http://proxy:3128' }],
  [{ HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'ample.com other.example.com,releases.example.com:8443' }],
  [{ HTTPS_PROXY: 'http://proxy:3128', NODE_USE_ENV_PROXY: '0' }],
])('one that cannot goes round no proxy, and all requests fail by one error: %j', async (env) => {
  const { fetching, calls } = made(env, { canSet: false })
  const [first, second] = await Promise.all([fetching(url), fetching(url)].map((one) => one.catch((thrown) => thrown)))
  expect(first).toMatchObject({ code: 'release-unavailable', remedy: expect.stringContaining('24.14') })
  expect(first.message).not.toContain('proxy:3128')
  expect(second).toBe(first)
  expect(calls).toEqual([])
})

test.each([
  [{}],
  [{ HTTPS_PROXY: '' }],
  [{ HTTPS_PROXY: 'http://proxy:3128', NODE_USE_ENV_PROXY: '1' }],
  [{ HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '*' }],
  [{ HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'x, .Example.com' }],
  [{ HTTPS_PROXY: 'http://proxy:3128', no_proxy: 'releases.example.com:443' }],
])('where none is wanted it fetches as ever: %j', async (env) => {
  const { fetching, calls } = made(env, { canSet: false })
  await fetching(url)
  expect(calls).toEqual([url])
})
