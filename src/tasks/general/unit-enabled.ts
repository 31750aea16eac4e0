import { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView, UnitView } from '../../facts/view.ts'
import { machinesTarget } from '../agent/names.ts'
import { unitDirectory, wantsDirectory } from '../agent/paths.ts'
import { blocked, type Planned, planned, satisfied, type Task } from '../task.ts'
import { mountRefusal } from './refusals.ts'
import { unitParam } from './unit-param.ts'
import { masked, startRefusal } from './unit-refusals.ts'

const params = z.strictObject({
  unit: unitParam.describe('Full name of the unit'),
  enabled: z.boolean().default(true).describe('false: no boot starts it by itself'),
})

type Params = z.infer<typeof params>

/** Targets whose `.wants` are looked into, since systemd's own word is as old as its last reload (mechanisms.md 5). */
const targets = ['multi-user.target', 'default.target', 'timers.target', 'sockets.target', machinesTarget]
const linkIn = (target: string, unit: string): string => `${wantsDirectory(unitDirectory, target)}/${unit}`

export const unitEnabled: Task<Params> = {
  name: 'unit-enabled',
  summary: 'A systemd unit starts at boot, or does not. Whether it runs now is the task unit-running.',
  params,
  example: `name: clock-at-boot
description: The clock is kept after a reboot as well
steps:
  - task: unit-enabled
    with: { unit: chronyd.service }
`,
  facts: ({ unit }): Fact[] => [
    { kind: 'unit', name: unit },
    ...targets.map((target): Fact => ({ kind: 'path', path: linkIn(target, unit) })),
    { kind: 'mount', path: unitDirectory },
  ],
  plan: (view, { unit: name, enabled }): Planned => {
    const unit = view.unit(name)
    const judged = enabled ? enabling(view, unit) : disabling(view, unit)
    if (judged === null) return satisfied()
    if (!('kind' in judged)) return blocked(judged)
    const refusal = mountRefusal(unitDirectory, view.mount(unitDirectory))
    return refusal === null ? planned([judged]) : blocked(refusal)
  },
}

const enabling = (view: HostView, unit: UnitView): Change | ErrorDetails | null => {
  const refusal = startRefusal(unit) ?? nameRefusal(unit)
  if (refusal !== null) return refusal
  const state = unit.get('UnitFileState')
  switch (state) {
    case 'enabled':
      return isStale(view, unit) ? enable(unit.name) : null
    case 'disabled':
    case 'enabled-runtime':
    case 'linked':
    case 'linked-runtime':
      return enable(unit.name)
    case 'masked':
    case 'masked-runtime':
      return masked(unit.name)
    default:
      return notEnableable(unit.name, state)
  }
}

const disabling = (view: HostView, unit: UnitView): Change | ErrorDetails | null => {
  const { name } = unit
  const load = unit.get('LoadState')
  if (load === 'masked') return null
  const state = unit.get('UnitFileState')
  if (load === 'not-found') {
    const left = targets.map((target) => linkIn(target, name)).find((path) => view.node(path).type !== 'absent')
    return left === undefined ? null : danglingLink(name, left)
  }
  const alias = nameRefusal(unit)
  if (alias !== null) return alias
  if (state === 'enabled-runtime') return enabledUntilBoot(name)
  if (state === 'bad') return notEnableable(name, state)
  return state === 'enabled' || targets.some((target) => isLinked(view, target, name))
    ? { kind: 'systemctl', verb: 'disable', unit: name }
    : null
}

const enable = (unit: string): Change => ({ kind: 'systemctl', verb: 'enable', unit })

/**
 * systemd says enabled, and no link is left that would make it so. Said only where all targets that want the unit
 * are among those looked into: the link may lie elsewhere otherwise.
 */
const isStale = (view: HostView, unit: UnitView): boolean => {
  const wantedBy = unit.list('WantedBy')
  return (
    wantedBy.length > 0 &&
    unit.list('RequiredBy').length === 0 &&
    wantedBy.every((target) => targets.includes(target) && !isLinked(view, target, unit.name))
  )
}

/** A link to /dev/null says no. */
const isLinked = (view: HostView, target: string, unit: string): boolean => {
  const node = view.node(linkIn(target, unit))
  return node.type !== 'absent' && !(node.type === 'symlink' && node.target === '/dev/null')
}

/** systemctl enables and disables no alias. */
const nameRefusal = (unit: UnitView): ErrorDetails | null => {
  const id = unit.get('Id')
  if (id === unit.name) return null
  return {
    code: 'precondition-unmet',
    message: `${unit.name} is on this host another name of ${id}, and systemctl enables and disables units by their own names only.`,
    remedy: `Name ${id} in the step.`,
  }
}

const notEnableable = (name: string, state: string): ErrorDetails => ({
  code: 'precondition-unmet',
  message: `${name} can be neither enabled nor disabled: its unit file is ${state === '' ? 'not there' : state}.`,
  remedy: reasons[state] ?? `Look at it with systemctl cat ${name}.`,
})

const reasons: Readonly<Record<string, string>> = {
  static: 'It has no [Install] section: other units start it. Enable the one that does, its timer or socket say.',
  indirect: 'Its [Install] section names only other units (Also=). Enable those.',
  generated: 'A generator makes it at each boot, from /etc/fstab or an init script say. Change what it is made from.',
  transient: 'It was made at run time and is gone after a boot. Install a unit file in an earlier step.',
}

const enabledUntilBoot = (name: string): ErrorDetails => ({
  code: 'precondition-unmet',
  message: `${name} is enabled in /run, until the next boot alone; drover does not change that.`,
  remedy: `On the host: systemctl disable --runtime ${name}.`,
})

const danglingLink = (name: string, path: string): ErrorDetails => ({
  code: 'precondition-unmet',
  message: `systemd knows no unit ${name}, yet ${path} enables it for when there is one.`,
  remedy: `Remove the link by a step path-absent for ${path}.`,
})
