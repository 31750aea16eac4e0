import { fault, fine } from '../agent/finding.ts'
import type { Check } from './check.ts'

const diskTarget = '/var/lib'
const needed = 8 * 2 ** 30
const gib = (bytes: number): string => `${(Math.floor((bytes / 2 ** 30) * 10) / 10).toFixed(1)} GiB`

export const diskSpace: Check = {
  name: 'disk-space',
  facts: () => [{ kind: 'mount', path: diskTarget }],
  evaluate: (view) => {
    const seen = { check: 'disk-space', target: diskTarget }
    const { freeBytes, mountPoint } = view.mount(diskTarget)
    if (freeBytes >= needed) return [fine({ ...seen, message: `${gib(freeBytes)} free under ${diskTarget}` })]
    const message = Number.isFinite(freeBytes)
      ? `${gib(freeBytes)} free under ${diskTarget}, at least 8 GiB are needed`
      : `free space under ${diskTarget} is unknown`
    return [fault({ ...seen, message, remedy: `Free space on ${mountPoint} or make it larger.` })]
  },
}

const cgroupTarget = '/sys/fs/cgroup'

export const cgroups: Check = {
  name: 'cgroups',
  facts: () => [{ kind: 'path', path: cgroupTarget }],
  evaluate: (view) => {
    const seen = { check: 'cgroups', target: cgroupTarget }
    return [
      view.target(cgroupTarget).type === 'directory'
        ? fine({ ...seen, message: 'control groups are mounted' })
        : fault({ ...seen, message: `${cgroupTarget} is missing`, remedy: 'Boot the host with control groups.' }),
    ]
  },
}
