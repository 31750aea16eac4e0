// npm run demo: three hosts, one of them the stuck node of issue #436, from trouble to health, and then to a new agent; and a host whose agent moves.
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { prepareMachine } from '../lab/engine.ts'
import { findHosts } from '../lab/lab.ts'
import { releaseFile } from '../support/releases.ts'
import { move } from './move.ts'
import { capture, expect, root, say, show } from './show.ts'

const flags = process.argv.slice(2)
const unknown = flags.filter((flag) => flag !== '--yes' && flag !== '--keep')
if (unknown.length > 0) {
  process.stderr.write(`demo: ${unknown.join(' ')} is not known\n  usage: npm run demo [-- [--yes] [--keep]]\n`)
  process.exit(5)
}
const isAgreed = flags.includes('--yes') || process.env.CI !== undefined
const isKept = flags.includes('--keep')

const lab = (verb: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn('node', ['e2e/lab/main.ts', verb, '--yes'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.on('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`the lab's ${verb} ended with ${code}`)),
    )
  })

const demo = async (): Promise<void> => {
  const inventory = (await lab('up')).trim().split('\n').at(-1) ?? ''
  const here = ['-i', inventory]
  show('What is wrong with the fleet?', ['status', ...here])
  const stuck = capture(['status', ...here, '--where', 'verdict=stuck', '-o', 'names'])
    .trim()
    .split('\n')
  expect(stuck.includes('rhel9-a'), 'rhel9-a is stuck before anything is done')
  expect(
    // The lab has no API server, so that check fails there and says nothing about the hosts.
    show('Would the agent find what it needs?', [
      'run',
      'preflight',
      ...here,
      '--ignore-preflight-errors',
      'api-server-reachable',
    ]) === 0,
    'preflight finds no error',
  )
  show('What would remediate do? A dry run, with differences', ['run', 'remediate', ...here, '--check', '--diff'])
  expect(show('Bring the workers back', ['run', 'remediate', ...here, '--reason', 'demo']) === 0, 'remediate succeeds')
  expect(show('Again: there is nothing left to do', ['run', 'remediate', ...here]) === 0, 'remediate succeeds again')
  say('\n# Reboot all three (systemctl reboot, inside)')
  await Promise.all((await findHosts('up')).map((host) => host.reboot()))
  expect(
    show('They came back by themselves', ['status', ...here, '--exit-code']) === 0,
    'every host is healthy after the reboot',
  )
  await upgrade(inventory)
  const moved = await move()
  say(`\nReports: ${root}.drover/runs/, one directory per run: report.json, hosts/*.json, events.ndjson`)
  if (isKept) say(`Inventories of the lab, to play with: ${inventory} ${moved}`)
}

/** To a release that is good, and to one that is not. The waits are shorter than the ones that a real fleet should have. */
const upgrade = async (inventory: string): Promise<void> => {
  const folder = dirname(inventory)
  const [good, crashes] = await Promise.all([
    releaseFile({ folder }, { version: 'v0.4.0' }),
    releaseFile({ folder }, { version: 'v0.4.1', behaviour: 'exits-42' }),
  ])
  const here = ['-i', inventory]
  const waits = ['stable_s=8', 'within_s=10', 'worker_stable_s=3'].flatMap((wait) => ['-e', wait])
  const to = (release: string): string[] => ['run', 'upgrade', ...here, '-e', `@${release}`, ...waits]
  show('A new release of the agent. What would an upgrade do?', [...to(good), '--check', '--diff'])
  expect(show('Upgrade all three', to(good)) === 0, 'the upgrade succeeds')
  expect(
    show('Now a release that crashes: nobody has to do anything', to(crashes)) === 7,
    'every host goes back by itself',
  )
  expect(show('All three run the good one', ['status', ...here, '--exit-code']) === 0, 'every host is healthy')
  const versions = capture(['status', ...here, '--where', 'agent=v0.4.0', '-o', 'names'])
  expect(versions.trim().split('\n').length === 3, 'all three run v0.4.0')
}

await prepareMachine({ yes: isAgreed })
try {
  await demo()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  if (isKept) say('\nThe lab is left running: npm run lab -- down')
  else await lab('down')
}
