// npm run check: everything that needs no host, under a minute.
import { globSync } from 'node:fs'
import { installMissing } from '../../e2e/lab/install.ts'
import { root, runStep, type Step } from './step.ts'
import { type Counts, readCounts, reportFile } from './vitest-report.ts'

export const check = async (isAgreed: boolean): Promise<{ isGood: boolean; counts: Counts }> => {
  await installMissing([{ command: 'shellcheck', packages: ['shellcheck'] }], isAgreed)
  const report = reportFile('unit')
  const scripts = globSync(['{src,e2e}/**/*.sh', 'test/golden/*.sh'], { cwd: root })
  const steps: readonly Step[] = [
    { name: 'format and lint', argv: ['biome', 'check', '--error-on-warnings', '.'] },
    { name: 'shell scripts', argv: ['shellcheck', ...scripts] },
    { name: 'types', argv: ['tsc', '-p', 'tsconfig.json'] },
    { name: 'unused code', argv: ['knip'] },
    { name: 'generated pages are fresh', argv: ['node', 'src/cli/write-docs.ts', '--check'] },
    { name: 'unit tests', argv: ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`] },
  ]
  const results: boolean[] = []
  for (const step of steps) results.push(await runStep(step))
  return { isGood: results.every(Boolean), counts: readCounts(report) }
}

if (import.meta.main) {
  const { isGood } = await check(process.argv.includes('--yes'))
  if (!isGood) process.exitCode = 1
}
