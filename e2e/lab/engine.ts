// A Docker engine for the lab: the one that runs, or Debian's docker.io, installed and started here.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Docker, runningDocker } from './docker.ts'
import { installMissing, NEEDS, type Need } from './install.ts'
import { withLock } from './lock.ts'
import { nameOf, processStart } from './processes.ts'
import { stateDir, stateFolder } from './state.ts'

const SOCKET = '/var/run/docker.sock'
const START_MS = 45_000

/**
 * Ways to start dockerd, tried in turn. A plain one serves nearly everywhere. Where iptables is missing or the kernel has none of it, the
 * engine gives up on its NAT rules; the lab needs none, since its hosts are reached at their bridge addresses and need nothing outside.
 * Where the disk cannot carry overlayfs, vfs copies whole layers: slow, but it works.
 */
const WAYS: readonly (readonly string[])[] = [
  [],
  ['--iptables=false', '--ip6tables=false'],
  ['--iptables=false', '--ip6tables=false', '--storage-driver=vfs'],
]

/** An engine that was killed leaves these behind, and the next one refuses to start if such a number has gone to another process. */
const PID_FILES = ['/var/run/docker.pid', '/var/run/docker/containerd/containerd.pid']

export interface EngineOptions {
  /** Install packages without asking. */
  yes?: boolean
}

/** All that a lab needs of apt, asked for once and before anything else: the images and the stand-in agent are built here. */
export async function prepareMachine(options: EngineOptions & { more?: readonly Need[] } = {}): Promise<Docker> {
  const { engine, ...builders } = NEEDS
  const needs = [
    ...((await runningDocker()) === undefined ? [engine] : []),
    ...Object.values(builders),
    ...(options.more ?? []),
  ]
  await installMissing(needs, options.yes ?? false)
  return ensureEngine({ yes: true })
}

export async function ensureEngine(options: EngineOptions = {}): Promise<Docker> {
  return (
    (await runningDocker()) ??
    (await withLock('engine', 300_000, async () => {
      const started = await runningDocker() // by whoever held the lock before us
      if (started !== undefined) return started
      await installMissing(Object.values(NEEDS), options.yes ?? false) // all of it, so as to ask once
      // Where an init system runs, the package has started the engine already.
      return (await runningDocker()) ?? startEngine()
    }))
  )
}

async function startEngine(): Promise<Docker> {
  const logFile = join(stateFolder(), 'dockerd.log')
  for (const file of PID_FILES) removeIfStale(file)
  const said: string[] = []
  for (const way of WAYS) {
    process.stderr.write(`lab: starting dockerd ${way.join(' ')}\n`)
    const docker = await startDockerd(way, logFile)
    if (docker !== undefined) return docker
    said.push(`dockerd ${way.join(' ')}: ${lastLines(logFile)}`)
  }
  throw new Error(`dockerd does not start, ${WAYS.length} ways tried; its last lines each time:\n${said.join('\n')}`)
}

async function startDockerd(flags: readonly string[], logFile: string): Promise<Docker | undefined> {
  const log = openSync(logFile, 'w', 0o600)
  // Detached and without our standard streams, so that it outlives this process and a closed terminal.
  const child = spawn('dockerd', flags, {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, PATH: `/usr/sbin:/sbin:${process.env.PATH ?? ''}` },
  })
  closeSync(log)
  let ended = false
  child.on('exit', () => (ended = true))
  child.on('error', () => (ended = true))
  child.unref()
  for (const deadline = Date.now() + START_MS; Date.now() < deadline && !ended; await sleep(200)) {
    // testcontainers logs every failed search for an engine, so look for the socket first.
    const docker = existsSync(SOCKET) ? await runningDocker() : undefined
    if (docker !== undefined && child.pid !== undefined) {
      writeFileSync(recordFile(), JSON.stringify({ pid: child.pid, start: processStart(child.pid) }))
      return docker
    }
  }
  if (child.pid !== undefined && !ended) process.kill(child.pid, 'SIGTERM')
  for (const deadline = Date.now() + 10_000; Date.now() < deadline && !ended; await sleep(100));
  return undefined
}

function removeIfStale(pidFile: string): void {
  if (!existsSync(pidFile)) return
  const name = nameOf(Number(readFileSync(pidFile, 'utf8')))
  if (name !== 'dockerd' && name !== 'containerd') rmSync(pidFile)
}

/** Stop the dockerd that this lab started, and no other. Says what it did. */
export async function stopEngine(): Promise<string> {
  const record = readRecord()
  if (record === undefined) return 'the Docker engine was not started by this lab and is left alone'
  if (processStart(record.pid) !== record.start) {
    rmSync(recordFile(), { force: true })
    return 'the Docker engine that this lab started is gone already'
  }
  const containers = (await (await runningDocker())?.listContainers()) ?? []
  if (containers.length > 0)
    return `the Docker engine is left running: ${containers.length} containers that are not this lab's use it`
  process.kill(record.pid, 'SIGTERM')
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(100)) {
    if (processStart(record.pid) !== record.start) {
      rmSync(recordFile(), { force: true })
      return 'stopped the Docker engine that this lab had started'
    }
  }
  return `dockerd (process ${record.pid}) has not ended within 30 s of SIGTERM; it is left alone`
}

function recordFile(): string {
  return join(stateDir, 'dockerd.json')
}

function readRecord(): { pid: number; start: string } | undefined {
  try {
    return JSON.parse(readFileSync(recordFile(), 'utf8'))
  } catch {
    return undefined
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-5).join('\n')
}
