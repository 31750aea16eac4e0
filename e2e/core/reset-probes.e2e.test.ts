import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { viewOf } from '../../src/facts/view.ts'
import { type NetworkLeft, networkFacts, readNetwork } from '../../src/tasks/reset/network.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type CoreHost, openCore } from '../support/core.ts'

/** What a reset asks of the network and of mounts, on hosts where root logs in and where somebody else does (M8). */

let lab: Lab
const cores = new Map<string, { host: LabHost; core: CoreHost }>()
const images = ['rhel9-like', 'acl-like'] as const

beforeAll(async () => {
  lab = await openLab('reset-probes', { yes: true })
  await Promise.all(
    images.map(async (image) => {
      const host = await lab.boot({ name: `probes-${image.slice(0, 3)}`, image, agent: 'none', worker: 'none' })
      cores.set(image, { host, core: await openCore(lab, host) })
    }),
  )
})

afterAll(async () => {
  for (const { core } of cores.values()) await core.close()
  await lab?.close()
})

const on = (image: string): { host: LabHost; core: CoreHost } => cores.get(image) as { host: LabHost; core: CoreHost }
const network = async (core: CoreHost): Promise<NetworkLeft> => readNetwork(viewOf(await core.inspect(networkFacts())))
const mountsBelow = async (core: CoreHost, ...args: string[]): Promise<string[]> => {
  const state = await core.inspect([{ kind: 'probe', name: 'mounts-below', args }])
  return viewOf(state).probe('mounts-below', args).stdout.trim().split('\n')
}

describe.each(images)('M8 %s', (image) => {
  test('a bare host has nothing of it, and drover came in by its one interface', async () => {
    expect(await network(on(image).core)).toEqual({
      isWhole: true,
      table: 'absent',
      hasLocalDns: false,
      interfaces: [],
      ssh: ['eth0'],
      rules: [],
    })
  })

  test('the table and interface of LocalDNS, other interfaces and rules are seen, and nothing of another name', async () => {
    const { host, core } = on(image)
    await host.must(
      `nft add table ip unbounded_localdns; nft add table ip unbounded_localdns_not; nft add table inet operators
       for i in localdns wg0 geneve0 keep0; do ip link add $i type bridge; done
       ip rule add from 10.9.9.9 lookup 100 priority 1000`,
    )
    const seen = await network(core)
    expect(seen).toMatchObject({ table: 'present', hasLocalDns: true, interfaces: ['geneve0', 'wg0'], ssh: ['eth0'] })
    expect(seen.rules).toEqual([expect.stringMatching(/^1000: from 10\.9\.9\.9 lookup 100/)])
    await host.must('nft delete table ip unbounded_localdns')
    expect((await network(core)).table).toBe('absent')
  })

  test('what is mounted at a place or below is seen, also where a link leads there, and nothing beside it', async () => {
    const { host, core } = on(image)
    const places = ['/var/lib/machines/kube1', '/srv/link', '/srv/none']
    expect(await mountsBelow(core, ...places)).toEqual(['whole=yes'])
    await host.must(
      `mkdir -p /var/lib/machines/kube1/data /var/lib/machines/kube10/data /srv/real/x && ln -s /srv/real /srv/link
       for d in /var/lib/machines/kube1/data /var/lib/machines/kube10/data /srv/real/x; do mount -t tmpfs none "$d"; done`,
    )
    expect(await mountsBelow(core, ...places)).toEqual([
      'mount=/var/lib/machines/kube1/data',
      'mount=/srv/real/x',
      'whole=yes',
    ])
  })
})
