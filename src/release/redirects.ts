import type { Fetch } from './download.ts'
import { type Subject, unavailable } from './fault.ts'

const mostRedirects = 5
const redirectCodes = [301, 302, 303, 307, 308]

export interface Following {
  readonly fetch: Fetch
  readonly signal: AbortSignal
  readonly subject: Subject
}

/** The answer at the end of all redirects, none of which may leave HTTPS. */
export const follow = async (from: string, { fetch, signal, subject }: Following): Promise<Response> => {
  let url = URL.parse(from)
  for (let followed = 0; followed <= mostRedirects; followed += 1) {
    if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '')
      throw unavailable(subject, {
        problem:
          followed === 0
            ? 'it has no URL that begins with https://.'
            : `the server leads to ${url === null ? 'no URL' : `${url.protocol}//${url.host}`}, which is not plain HTTPS.`,
        remedy: 'Name a URL that gives the release over https:// all the way.',
      })
    // Compressed on the way it would be another file than the one whose digest is known.
    const headers = { 'accept-encoding': 'identity', 'user-agent': 'drover' }
    const response = await fetch(url.href, { redirect: 'manual', signal, headers })
    const location = response.headers.get('location')
    if (!redirectCodes.includes(response.status) || location === null) return response
    await response.body?.cancel()
    url = URL.parse(location, url.href)
  }
  throw unavailable(subject, {
    problem: `the server redirects more than ${mostRedirects} times.`,
    remedy: 'Name the URL at the end of the redirects.',
  })
}
