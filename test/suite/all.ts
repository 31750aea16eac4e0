// npm test: the check, then every story on real hosts. The last line counts what the runner itself reports.
// --full (npm run test:full): matrices that are sampled otherwise are tried whole, which takes hours.
import { runningDocker } from '../../e2e/lab/docker.ts'
import { prepareMachine, stopEngine } from '../../e2e/lab/engine.ts'
import { check, checkNeeds } from './check.ts'
import { runStep } from './step.ts'
import { testTransport } from './transport.ts'
import { readCounts, reportFile, sum } from './vitest-report.ts'

const isAgreed = process.argv.includes('--yes') || process.env.CI !== undefined

if (process.argv.includes('--full')) process.env.DROVER_TEST_FULL = '1'

const wasRunning = (await runningDocker()) !== undefined
// All that apt has to bring is asked for once, before anything runs.
await prepareMachine({ yes: isAgreed, more: checkNeeds })
const checked = await check()
const isPrepared = await runStep({ name: 'lab images', argv: ['node', 'e2e/lab/main.ts', 'prepare', '--yes'] })
const transports = []
for (const image of ['rhel9-like', 'ubuntu-like'] as const) transports.push(await testTransport(image))
const report = reportFile('e2e')
const stories = await runStep({
  name: 'stories on real hosts',
  argv: [
    'vitest',
    'run',
    '--config',
    'vitest.e2e.config.ts',
    '--reporter=verbose',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
  isShown: true,
})
// Every story closes its own hosts; what is left is the engine, if it was started here.
if (!wasRunning) process.stdout.write(`${await stopEngine()}\n`)
const { passed, failed, skipped } = sum([checked.counts, ...transports.map(({ counts }) => counts), readCounts(report)])
const isGood = [checked, ...transports].every((part) => part.isGood) && isPrepared && stories
if (!isGood || failed > 0) process.exitCode = 1
if (skipped > 0) process.stdout.write(`${skipped} tests were left out\n`)
process.stdout.write(`${passed} passed, ${failed} failed\n`)
