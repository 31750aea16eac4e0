import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HostStatus } from '../../src/tasks/agent/assess.ts'
import { AGENT_UNIT, type LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { drover } from '../support/drover.ts'
import { expectCode } from '../support/upgrade.ts'

/**
 * Story: one host is brought into every state of the agent's root, by the files alone, and status says what each means and
 * what to run (domain.md 6.1, 6.5; rule M4). An agent that knows nothing of the root runs on meanwhile.
 */

const ROOT = '/opt/unbounded/agent'
let lab: Lab
let host: LabHost

beforeAll(async () => {
  lab = await openLab('status-root', { yes: true })
  host = await lab.boot({ name: 'half', image: 'rhel9-like', agent: 'old', worker: 'sleep' })
})

afterAll(() => lab?.close())

const seen = async (): Promise<HostStatus> => {
  const end = await drover(lab, ['status', '-o', 'json'])
  expectCode(end, 0)
  return (JSON.parse(end.stdout) as { hosts: { status: HostStatus }[] }).hosts[0]?.status as HostStatus
}

test('M4 a link, and what keeps the host from moving', async () => {
  await host.must(`rm -rf ${ROOT}; mkdir -p /opt/unbounded; ln -s /usr/local ${ROOT}`)
  expect(await seen()).toMatchObject({ hostRoot: 'LINKED', linked: 'waiting-for-release', move: null, remedy: null })
  expect((await drover(lab, ['status'])).stdout).toMatch(/^root: half: LINKED, waiting-for-release: ./m)
})

test('M4 a copy that was begun, with the link and without it', async () => {
  await host.must(`mkdir -p ${ROOT}.staging/bin`)
  expect(await seen()).toMatchObject({ hostRoot: 'STAGING', verdict: 'move-cut', fix: 'migrate' })
  await host.must(`rm ${ROOT}`)
  expect(await seen()).toMatchObject({ hostRoot: 'SWAP-GAP', verdict: 'move-cut', fix: 'migrate' })
})

test('11.32 a move within its three minutes, and one that does not end, with the words of the journal', async () => {
  await host.must(`cp -a /usr/local/lib ${ROOT}.staging/; mv ${ROOT}.staging ${ROOT}; touch ${ROOT}/.moving`)
  expect(await seen()).toMatchObject({ hostRoot: 'MOVING-1', verdict: 'moving', fix: null })
  await host.must(`touch -d '10 minutes ago' ${ROOT}/.moving`)
  const silent = await seen()
  expect(silent).toMatchObject({ verdict: 'move-stuck', fix: 'migrate', move: { how: 'stuck', reason: null } })
  expect(silent.move?.ageS).toBeGreaterThanOrEqual(600)
  // As the agent would say it at its start: in the journal of its own unit.
  await host.must(
    [
      `mkdir -p /run/systemd/system/${AGENT_UNIT}.d`,
      `printf '[Service]\\nExecStartPre=/bin/echo "could not move the agent\\x27s files: no space left on device"\\n' >/run/systemd/system/${AGENT_UNIT}.d/90-says.conf`,
      `systemctl daemon-reload; systemctl restart ${AGENT_UNIT}`,
    ].join('\n'),
  )
  await expect
    .poll(async () => (await seen()).explanation, { timeout: 30_000 })
    .toMatch(/it said: could not move the agent's files: no space left on device$/)
  await host.must(`rm /run/systemd/system/${AGENT_UNIT}.d/90-says.conf; systemctl daemon-reload`)
})

test('11.34 two installations, and something that is no root at all: the worker runs, and nothing is offered', async () => {
  await host.must(`rm ${ROOT}/.moving`)
  expect(await seen()).toMatchObject({ hostRoot: 'CONFLICT', verdict: 'root-conflict', fix: null })
  await host.must(`rm -rf ${ROOT}; touch ${ROOT}`)
  const blocked = await seen()
  expect(blocked).toMatchObject({ hostRoot: 'BLOCKED', verdict: 'root-conflict', worker: { state: 'active' } })
  expect(blocked.remedy).toMatch(/move it away/)
})

test('M4 a link of an operator is named and is no fault of the host', async () => {
  await host.must(`rm ${ROOT}; mkdir -p /data/agent; ln -s /data/agent ${ROOT}`)
  expect(await seen()).toMatchObject({ hostRoot: 'OPERATOR-LINK', remedy: null, move: null })
  expect((await drover(lab, ['status'])).stdout).toMatch(/^root: half: OPERATOR-LINK: ./m)
  await host.must(`rm ${ROOT}`)
  expect(await seen()).toMatchObject({ hostRoot: 'LEGACY', remedy: null })
})
