import { readFileSync, writeFileSync } from 'node:fs'
import { errorCodes } from '../errors.ts'
import { tasks } from '../tasks/registry.ts'
import { errorsMarkdown, tasksMarkdown } from './docs.ts'

// A package script: writes the generated pages of docs/, or with --check fails where one is stale.
const pages = {
  'docs/tasks.md': tasksMarkdown(tasks.values()),
  'docs/errors.md': errorsMarkdown(errorCodes),
}

const pathOf = (page: string): URL => new URL(`../../${page}`, import.meta.url)

const isStale = ([page, text]: [string, string]): boolean => {
  try {
    return readFileSync(pathOf(page), 'utf8') !== text
  } catch {
    return true
  }
}

const stale = Object.entries(pages).filter(isStale)
if (!process.argv.includes('--check')) for (const [page, text] of stale) writeFileSync(pathOf(page), text)
else if (stale.length > 0) {
  process.stderr.write(
    `stale: ${stale.map(([page]) => page).join(', ')}\n  fix: run this script without --check and commit what it writes\n`,
  )
  process.exitCode = 1
}
