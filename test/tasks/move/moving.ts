import { createHash } from 'node:crypto'
import { LEGACY, ROOT, stagingRoot } from '../../../src/tasks/agent/paths.ts'
import { execStart, laidOut } from '../deployed.ts'
import type { HostLiteral, PathLiteral, UnitLiteral } from '../host-state.ts'

/** Hosts on their way between the two roots, as literals. */

export const agent = 'aks-flex-node-agent.service'
export const agentsFile = '/etc/aks-flex-node/host-root-agents'
export const override = '/etc/systemd/system/systemd-nspawn@kube1.service.d/override.conf'
export const regenerate = '/etc/systemd/system/unbounded-agent-regenerate-config@kube1.service'
export const localDns = '/etc/systemd/system/unbounded-localdns-network.service'
export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
export const entry = (root: string, name: string): string => `${root}/lib/aks-flex-node/aks-flex-node-${name}`
export const helperOf = (root: string): string => `${root}/bin/unbounded-agent-nspawn-lifecycle`
export const localDnsOf = (root: string): string => `${root}/libexec/unbounded-localdns-network`
export const unitText = (root: string): string => `[Service]\nExecStart=${entry(root, 'current')} agent --config x\n`

const binary = (file: string): PathLiteral => ({ file, mode: 0o755 })

/** A whole installation: blue runs and is an upgrade's, green is what it came from. `at`: where the files lie. */
export const installation = (root: string, at: string = root, helper = 'old'): Record<string, PathLiteral> => ({
  [`${at}/bin`]: { dir: true },
  [`${at}/lib/aks-flex-node`]: { dir: true, mode: 0o750 },
  [entry(at, 'blue')]: binary('old'),
  [entry(at, 'green')]: binary('older'),
  [entry(at, 'current')]: { link: entry(root, 'blue') },
  [entry(at, 'last-good')]: { link: entry(root, 'green') },
  [entry(at, 'recovery.sh')]: { file: `#!/bin/sh\n${entry(root, 'last-good')} recover\n`, mode: 0o750 },
  [helperOf(at)]: binary(helper),
  [localDnsOf(at)]: { file: '#!/bin/sh\n', mode: 0o755 },
  [`${at}/bin/aks-flex-node`]: { link: entry(root, 'current') },
})

export const unitsOn = (root: string): Record<string, PathLiteral> => ({
  '/etc/systemd/system/aks-flex-node-agent.service': { file: unitText(root) },
  '/etc/systemd/system/aks-flex-node-agent-recovery.service': { file: `ExecStart=${entry(root, 'recovery.sh')}\n` },
  [override]: { file: `[Service]\nExecStartPost=-${helperOf(root)} nspawn-lifecycle post-start kube1\n# kept\n` },
  [regenerate]: { file: `[Service]\nExecStart=${helperOf(root)} nspawn-lifecycle pre-start kube1\n`, mode: 0o640 },
  [localDns]: { file: `[Service]\nExecStart=${localDnsOf(root)}\n` },
})

/** Every binary of a whole installation, and of a copy of it, says a version that knows the root. */
const versions: Readonly<Record<string, string>> = Object.fromEntries(
  [LEGACY, ROOT, stagingRoot].flatMap((root) =>
    ['blue', 'green', 'current', 'last-good'].map((name) => [
      entry(root, name),
      name === 'green' ? 'v0.3.0' : 'v0.4.0',
    ]),
  ),
)

export const running = (
  state: 'active' | 'inactive' | 'failed' | 'activating' | 'deactivating',
  names: string,
  exe: string,
): UnitLiteral => ({
  ...laidOut('LINKED').units?.[agent],
  ExecStart: execStart(entry(names, 'current')),
  exe: state === 'active' ? entry(exe, 'blue') : '',
  ...(state === 'active' ? {} : { ActiveState: state, MainPID: '0' }),
  ...(state === 'failed' && { Result: 'exit-code' }),
})

const host = (literal: HostLiteral, changes: HostLiteral): HostLiteral =>
  laidOut('LEGACY', {
    ...literal,
    ...changes,
    units: { ...literal.units, ...changes.units },
    paths: { ...literal.paths, ...changes.paths },
    versions: { ...versions, ...literal.versions, ...changes.versions },
  })

export const legacy = (changes: HostLiteral = {}): HostLiteral =>
  host({ paths: { ...installation(LEGACY), ...unitsOn(LEGACY) } }, changes)

export const linked = (changes: HostLiteral = {}): HostLiteral =>
  legacy({ ...changes, paths: { [ROOT]: { link: LEGACY }, ...changes.paths } })

const staging: Record<string, PathLiteral> = {
  [stagingRoot]: { dir: true },
  ...installation(ROOT, stagingRoot),
  [`${stagingRoot}/.moving`]: { file: '' },
}

export const stagingHost = (changes: HostLiteral = {}): HostLiteral =>
  linked({ ...changes, paths: { ...staging, ...changes.paths } })

export const swapGap = (changes: HostLiteral = {}): HostLiteral =>
  legacy({ ...changes, paths: { ...staging, ...changes.paths } })

const moving = (modifiedS: number): Record<string, PathLiteral> => ({
  [ROOT]: { dir: true },
  ...installation(ROOT),
  [`${ROOT}/.moving`]: { file: '', modifiedS },
})

/** Both copies; the clock of these hosts stands at 1_000_000. */
export const moving1 = (changes: HostLiteral = {}, modifiedS = 999_990): HostLiteral =>
  host(
    {
      units: { [agent]: running('active', LEGACY, LEGACY) },
      paths: { ...installation(LEGACY), ...unitsOn(LEGACY), ...moving(modifiedS) },
    },
    changes,
  )

export const moving2 = (changes: HostLiteral = {}, modifiedS = 999_990): HostLiteral =>
  host(
    {
      units: { [agent]: running('active', ROOT, ROOT) },
      paths: { ...installation(LEGACY), ...unitsOn(ROOT), ...moving(modifiedS), [agentsFile]: { file: '' } },
    },
    changes,
  )

const gone = Object.fromEntries(
  [...Object.keys(installation(LEGACY)).filter((path) => path !== `${LEGACY}/bin`), `${ROOT}/.moving`].map(
    (path) => [path, 'absent'] as const,
  ),
)

export const movedHost = (changes: HostLiteral = {}): HostLiteral =>
  moving2({ ...changes, paths: { ...gone, [agentsFile]: 'absent', ...changes.paths } })

/** The same host, on which the binary at that place cannot be run. */
export const silent = (literal: HostLiteral, ...paths: readonly string[]): HostLiteral => ({
  ...literal,
  versions: Object.fromEntries(Object.entries(literal.versions ?? {}).filter(([path]) => !paths.includes(path))),
})
