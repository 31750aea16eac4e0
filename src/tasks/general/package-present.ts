import { z } from 'zod'
import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { blocked, type Planned, planned, satisfied, type Task } from '../task.ts'

const nameParam = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9+._-]{0,127}$/,
    'This is no name of a package.\nUse letters, digits and + . _ -, beginning with a letter or a digit: no version, no option, no file.',
  )

const params = z
  .strictObject({
    name: nameParam
      .exactOptional()
      .describe('One package, by the name under which the host lists it once it is installed'),
    names: z.array(nameParam).min(1).exactOptional().describe('Several packages, instead of name'),
  })
  .superRefine(({ name, names }, context) => {
    if ((name === undefined) !== (names === undefined)) return
    const fault = name === undefined ? 'The step names no package.' : 'The step has both name and names.'
    context.addIssue({ code: 'custom', message: `${fault}\nGive name for one package or names for several.` })
  })

type Params = z.infer<typeof params>

export const packagePresent: Task<Params> = {
  name: 'package-present',
  summary: 'Packages are installed, in whatever version. One that is there is neither upgraded nor changed.',
  params,
  example: `name: container-tools
description: What workers need of the host
steps:
  - task: package-present
    when: { os: [rhel] }
    with: { names: [systemd-container, nftables] }
`,
  facts: (wanted): Fact[] => namesOf(wanted).map((name) => ({ kind: 'package', name })),
  plan: (view, wanted): Planned => {
    const missing = namesOf(wanted).filter((name) => view.package(name) === null)
    if (missing.length === 0) return satisfied()
    const manager = view.packageManager
    return manager === null
      ? blocked(noManager(view, missing))
      : planned([{ kind: 'package', install: missing, manager }])
  },
}

const namesOf = ({ name, names }: Params): string[] => [
  ...new Set([...(names ?? []), ...(name === undefined ? [] : [name])]),
]

const noManager = (view: HostView, missing: readonly string[]): ErrorDetails => ({
  code: 'package-manager-missing',
  message: `${missing.join(', ')} cannot be installed: ${view.os.prettyName} has neither apt nor dnf.`,
  remedy:
    view.os.family === 'acl'
      ? 'Its packages are those of its image: build an image that has them, or leave this host out of the step with when: or hosts:.'
      : 'Install by hand what is missing, or leave this host out of the step with when: or hosts:.',
})
