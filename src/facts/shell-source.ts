import { readFileSync } from 'node:fs'

/**
 * The text of one of our own `.sh` files, which stand beside the code and hold no templates. Lines that are
 * only a comment stay at home: they would be sent to every host in every run. (No script of ours has a
 * here-document with a line that begins with `#`; a test sees to it.)
 */
export const shellSource = (url: URL): string => {
  const known = cache.get(url.href)
  if (known !== undefined) return known
  const text = readFileSync(url, 'utf8').replace(/^[ \t]*#.*\n/gm, '')
  cache.set(url.href, text)
  return text
}

const cache = new Map<string, string>()
