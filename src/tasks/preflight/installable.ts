import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'

/** The packages bootstrap needs and the program each is needed for (domain.md 9.4). */
const requiredPackages = [
  { name: 'systemd-container', program: 'systemd-nspawn' },
  { name: 'curl', program: 'curl' },
  { name: 'nftables', program: 'nft' },
  { name: 'util-linux', program: 'mountpoint' },
] as const

export const packageFacts = (): Fact[] =>
  requiredPackages.flatMap(({ name, program }): Fact[] => [
    { kind: 'program', name: program },
    { kind: 'package', name },
  ])

/** The program is what is needed: curl-minimal does as well as curl, and an image without packages has programs. */
export const missingPackages = (view: HostView): readonly string[] =>
  requiredPackages
    .filter(({ name, program }) => view.program(program) === null && view.package(name) === null)
    .map(({ name }) => name)

/** An image-managed host cannot install, whatever package tools it ships (domain.md 9.4). */
export const canInstall = (view: HostView): boolean => view.os.family !== 'acl' && view.packageManager !== null
