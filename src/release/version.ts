import { parse } from 'semver'

/**
 * Below, at or above 0 as `a` is older than, equal to or newer than `b`. Null where nobody can say: one of them is no
 * version (`dev`), or counts commits after a tag (`v1.2.3-4-gabc1234`), which by its form would come before that tag.
 */
export const compareVersions = (a: string, b: string): number | null => {
  if (countsCommits(a) || countsCommits(b)) return null
  const [first, second] = [parse(a), parse(b)]
  return first === null || second === null ? null : first.compare(second)
}

const countsCommits = (version: string): boolean => /-\d+-g[0-9a-f]+(?:-dirty)?$/.test(version)
