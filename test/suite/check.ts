// npm run check: everything that needs no host, under a minute.
import { globSync } from 'node:fs'
import { installMissing, type Need } from '../../e2e/lab/install.ts'
import { root, runStep, type Step } from './step.ts'
import { type Counts, readCounts, reportFile } from './vitest-report.ts'

/** What the check runs that npm does not bring. */
export const checkNeeds: readonly Need[] = [
  { command: 'shellcheck', packages: ['shellcheck'] },
  { command: 'ssh-keygen', packages: ['openssh-client'] },
]

export const check = async (): Promise<{ isGood: boolean; counts: Counts }> => {
  const report = reportFile('unit')
  const scripts = globSync(['{src,e2e,bench}/**/*.sh', 'test/golden/*.sh'], { cwd: root })
  const steps: readonly Step[] = [
    { name: 'format and lint', argv: ['biome', 'check', '--error-on-warnings', '.'] },
    { name: 'shell scripts', argv: ['shellcheck', ...scripts] },
    { name: 'types', argv: ['tsc', '-p', 'tsconfig.json'] },
    { name: 'unused code', argv: ['knip'] },
    { name: 'generated pages are fresh', argv: ['node', 'src/cli/write-docs.ts', '--check'] },
    { name: 'acceptance page is fresh', argv: ['node', 'test/suite/acceptance/write.ts', '--check'] },
    { name: 'build', argv: ['node', 'test/suite/build.ts'] },
    { name: 'package', argv: ['node', 'test/suite/package.ts'] },
    {
      name: 'unit tests',
      argv: ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    },
  ]
  const results: boolean[] = []
  for (const step of steps) results.push(await runStep(step))
  return { isGood: results.every(Boolean), counts: readCounts(report) }
}

if (import.meta.main) {
  await installMissing(checkNeeds, process.argv.includes('--yes'))
  const { isGood } = await check()
  if (!isGood) process.exitCode = 1
}
