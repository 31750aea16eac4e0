import { readFileSync, writeFileSync } from 'node:fs'
import { errorCodes } from '../errors.ts'
import { tasks } from '../tasks/registry.ts'
import { errorsMarkdown, tasksMarkdown } from './docs.ts'
import { provisionMarkdown } from './docs-provision.ts'
import { hostRootMarkdown, verdictsMarkdown } from './docs-status.ts'
import { withGeneratedPart } from './generated-part.ts'

const pathOf = (page: string): URL => new URL(`../../${page}`, import.meta.url)

const textOf = (page: string): string => {
  try {
    return readFileSync(pathOf(page), 'utf8')
  } catch {
    return ''
  }
}

// A package script: writes the generated pages and parts of pages of docs/, or with --check fails where one is stale.
const pages: Readonly<Record<string, (before: string) => string>> = {
  'docs/tasks.md': () => tasksMarkdown(tasks.values()),
  'docs/errors.md': () => errorsMarkdown(errorCodes),
  'docs/azure-container-linux.md': (before) => withGeneratedPart(before, 'provision', provisionMarkdown()),
  'docs/migration.md': (before) => withGeneratedPart(before, 'host root states', hostRootMarkdown()),
  'docs/operations.md': (before) => withGeneratedPart(before, 'verdicts', verdictsMarkdown()),
}

const stale = Object.entries(pages)
  .map(([page, text]) => ({ page, before: textOf(page), text }))
  .map(({ page, before, text }) => ({ page, before, after: text(before) }))
  .filter(({ before, after }) => before !== after)
if (!process.argv.includes('--check')) for (const { page, after } of stale) writeFileSync(pathOf(page), after)
else if (stale.length > 0) {
  process.stderr.write(
    `stale: ${stale.map(({ page }) => page).join(', ')}\n  fix: run this script without --check and commit what it writes\n`,
  )
  process.exitCode = 1
}
