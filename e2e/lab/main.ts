// npm run lab -- prepare | up | down | status [--yes] [--images]
import { existsSync, rmSync } from 'node:fs'
import { AGENT_RELEASES, agentBinary } from './agent/build.ts'
import { runningDocker } from './docker.ts'
import { ensureEngine, stopEngine } from './engine.ts'
import { AGENT_UNIT, type HostSpec, WORKER_UNIT } from './host.ts'
import { ensureImages, IMAGE_NAMES, removeImages } from './images.ts'
import { removeInventory, writeInventory } from './inventory.ts'
import { findHosts, openLab, removeLabs } from './lab.ts'
import { restoreInotifyLimit } from './limits.ts'
import { stateDir } from './state.ts'

const DEFAULT_LAB = 'up'

/** One host of each kind, each with another trouble: stuck since its reboot, worker dead under an active target, and none at all. */
const DEFAULT_HOSTS: readonly HostSpec[] = [
  { name: 'rhel9-a', image: 'rhel9-like', agent: 'old', worker: 'real' },
  { name: 'ubuntu-a', image: 'ubuntu-like', agent: 'old', worker: 'sleep' },
  { name: 'acl-a', image: 'acl-like', agent: 'new', worker: 'sleep' },
]

/** Engine, images and agents, so that stories find all they need and none of them has to ask. */
async function prepare(yes: boolean): Promise<void> {
  await ensureEngine({ yes })
  await Promise.all([
    ensureImages(IMAGE_NAMES, { yes }),
    ...AGENT_RELEASES.map((release) => agentBinary(release, { yes })),
  ])
  say('engine and images are ready')
}

async function up(yes: boolean): Promise<void> {
  // The inventory is written last, so without it the hosts that an interrupted `up` left may be half made.
  const lab = await openLab(DEFAULT_LAB, { yes, keep: existsSync(`${stateDir}/labs/${DEFAULT_LAB}/inventory.yaml`) })
  await lab.attach()
  await Promise.all(lab.hosts.map((host) => host.untilUp()))
  const running = new Set(lab.hosts.map((host) => host.name))
  if (!DEFAULT_HOSTS.every((spec) => running.has(spec.name))) removeInventory(lab)
  const booted = await Promise.allSettled(
    DEFAULT_HOSTS.filter((spec) => !running.has(spec.name)).map(async (spec) => {
      const host = await lab.boot(spec)
      if (spec.name === 'rhel9-a') await host.stick()
      if (spec.name === 'ubuntu-a') await host.killWorker()
      say(`${host.name} is up at ${host.address}`)
    }),
  )
  const failed = booted.filter((result) => result.status === 'rejected')
  if (failed.length > 0) {
    await removeLabs([`drover.lab=${DEFAULT_LAB}`])
    throw new AggregateError(
      failed.map((result) => result.reason),
      'the lab was removed again, since not every host came up',
    )
  }
  process.stdout.write(`${writeInventory(lab)}\n`)
}

async function down(images: boolean): Promise<void> {
  if ((await runningDocker()) !== undefined) {
    const removed = await removeLabs()
    say(`removed ${removed.containers} containers and ${removed.networks} networks`)
    if (images) say(`removed ${await removeImages()} images`)
  } else if (existsSync(`${stateDir}/labs`)) {
    say('no Docker engine is running; hosts that a killed engine left on disk go away by `up` and another `down`')
  }
  say(await stopEngine())
  restoreInotifyLimit()
  // What may stay: dockerd's record and log, if it was left running, and the compiled agents.
  rmSync(`${stateDir}/labs`, { recursive: true, force: true })
  if (!existsSync(`${stateDir}/dockerd.json`)) rmSync(stateDir, { recursive: true, force: true })
}

async function status(): Promise<void> {
  if ((await runningDocker()) === undefined) return say('no Docker engine is running, so no lab is')
  const hosts = await findHosts(DEFAULT_LAB)
  if (hosts.length === 0) return say('the lab is down')
  for (const host of hosts) {
    const [target, worker, agent] = await Promise.all([
      host.unit('machines.target'),
      host.unit(WORKER_UNIT),
      host.unit(AGENT_UNIT),
    ])
    process.stdout.write(
      `${host.name}  ${host.address}  ${host.spec.image}  agent ${agent.ActiveState}  worker ${worker.ActiveState}  machines.target ${target.ActiveState}\n`,
    )
  }
}

function say(line: string): void {
  process.stderr.write(`lab: ${line}\n`)
}

async function main(words: readonly string[]): Promise<void> {
  const flags = words.filter((word) => word.startsWith('--'))
  const verbs = words.filter((word) => !word.startsWith('--'))
  const unknown = flags.filter((flag) => flag !== '--yes' && flag !== '--images')
  if (unknown.length === 0 && verbs.length === 1) {
    if (verbs[0] === 'prepare') return prepare(flags.includes('--yes'))
    if (verbs[0] === 'up') return up(flags.includes('--yes'))
    if (verbs[0] === 'down') return down(flags.includes('--images'))
    if (verbs[0] === 'status') return status()
  }
  say('usage: npm run lab -- prepare|up|down|status [--yes] [--images]')
  process.exitCode = 5
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`lab: ${error instanceof Error ? describe(error) : String(error)}\n`)
  process.exitCode = 1
}

function describe(error: Error): string {
  const causes = error instanceof AggregateError ? error.errors : error.cause === undefined ? [] : [error.cause]
  return [error.message, ...causes.map((cause) => (cause instanceof Error ? describe(cause) : String(cause)))].join(
    '\n  because ',
  )
}
