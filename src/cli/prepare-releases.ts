import { isAbsolute, join } from 'node:path'
import type { HostPlay } from '../playbook/playbook.ts'
import type { Releases } from '../release/release.ts'
import type { Tasks } from '../runner/plan.ts'
import type { Task } from '../tasks/task.ts'
import type { CliContext } from './context.ts'
import type { Faults } from './faults.ts'
import type { Logger } from './log.ts'

/** The same plays with the parameters that tasks made of theirs. Parameters that hosts share are prepared once. */
export const prepareReleases = async (
  plays: readonly HostPlay[],
  tasks: Tasks,
  { releases, faults }: { readonly releases: () => Promise<Releases>; readonly faults: Faults },
): Promise<readonly HostPlay[]> => {
  const asked = new Map<unknown, Task>()
  for (const { task, params } of plays.flatMap(({ steps }) => steps)) {
    const known = tasks.get(task)
    if (known?.prepare !== undefined) asked.set(params, known)
  }
  if (asked.size === 0) return plays
  const ready = await releases()
  const prepared = new Map<unknown, unknown>()
  const wrong = new Set<unknown>()
  const settled = await Promise.allSettled(
    [...asked].map(async ([params, task]) => prepared.set(params, await task.prepare?.(params, ready))),
  )
  for (const result of settled)
    if (result.status === 'rejected')
      for (const one of result.reason instanceof AggregateError ? result.reason.errors : [result.reason]) wrong.add(one)
  for (const one of wrong)
    await faults.attempt(() => {
      throw one
    })
  return plays.map(({ host, steps }) => ({
    host,
    steps: steps.map((step) => (prepared.has(step.params) ? { ...step, params: prepared.get(step.params) } : step)),
  }))
}

/** Those of this workstation. Loaded when a step asks for one: most runs need none. */
export const releasesOf = (context: CliContext, log: Logger): (() => Promise<Releases>) => {
  const { cwd, fetch } = context
  return async () => {
    const { createReleases } = await import('../release/releases.ts')
    return createReleases({ cacheDirectory: releaseCache(context), cwd, fetch, tell: (message) => log.info(message) })
  }
}

/** Where binaries are kept, each under its digest. */
export const releaseCache = ({ env, home }: Pick<CliContext, 'env' | 'home'>): string => {
  const caches = env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME) ? env.XDG_CACHE_HOME : join(home, '.cache')
  return join(caches, 'drover', 'releases')
}
