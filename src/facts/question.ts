import { type Fact, factKey as keyOf, mergeFacts, type ProbeName } from './fact.ts'
import { shellSource } from './shell-source.ts'
import { ancestry, isCleanPath, parentOf } from './tree.ts'
import { isUnitName, unitProperties } from './unit.ts'

/** One section of the inspect script and what it is asked, in the order its answers come back. */
export interface Section {
  readonly name: string
  readonly args: readonly string[]
}

/** What is asked of one host, in the order of the script; the answer is read with the same value. */
export interface Question {
  readonly facts: readonly Fact[]
  readonly units: readonly string[]
  readonly startsOf: readonly string[]
  readonly paths: readonly string[]
  readonly texts: readonly { readonly path: string; readonly max: number }[]
  readonly digests: readonly string[]
  readonly directories: readonly string[]
  readonly leftoversIn: readonly string[]
  readonly mounts: readonly string[]
  readonly packages: readonly string[]
  readonly programs: readonly string[]
  readonly ports: readonly number[]
  readonly commands: readonly { readonly key: string; readonly argv: readonly string[]; readonly timeoutS: number }[]
  readonly secretPaths: readonly string[]
}

type PathFact = Extract<Fact, { kind: 'path' }>

const commandTimeoutS = 20

/** The batched question for a set of facts. Throws on a unit name that would end the batch on the host, or a path that is none. */
export const questionFor = (asked: readonly Fact[]): Question => {
  const facts = mergeFacts(asked)
  const paths = facts.filter((fact): fact is PathFact => fact.kind === 'path')
  const units = facts.filter((fact) => fact.kind === 'unit')
  for (const unit of units) if (!isUnitName(unit.name)) throw new Error(`not a unit name: ${unit.name}`)
  for (const fact of facts) {
    if ((fact.kind === 'path' || fact.kind === 'mount') && !isCleanPath(fact.path)) {
      throw new Error(`not a clean path: ${fact.path}`)
    }
  }
  const everyPath = new Set(
    [...paths.map((fact) => fact.path), ...facts.flatMap((fact) => (fact.kind === 'mount' ? [fact.path] : []))].flatMap(
      ancestry,
    ),
  )
  return {
    facts,
    units: units.map((fact) => fact.name),
    startsOf: units.filter((fact) => fact.starts).map((fact) => fact.name),
    paths: [...everyPath],
    texts: paths.flatMap((fact) => (fact.content === undefined ? [] : [{ path: fact.path, max: fact.content }])),
    digests: paths.filter((fact) => fact.sha256).map((fact) => fact.path),
    directories: paths.filter((fact) => fact.entries).map((fact) => fact.path),
    leftoversIn: [...new Set(paths.map((fact) => parentOf(fact.path)))],
    mounts: facts.flatMap((fact) => (fact.kind === 'mount' ? [fact.path] : [])),
    packages: facts.flatMap((fact) => (fact.kind === 'package' ? [fact.name] : [])),
    programs: facts.flatMap((fact) => (fact.kind === 'program' ? [fact.name] : [])),
    ports: facts.flatMap((fact) => (fact.kind === 'port' ? [fact.port] : [])),
    commands: facts.flatMap((fact) => {
      if (fact.kind === 'command')
        return [{ key: keyOf(fact), argv: fact.argv, timeoutS: fact.timeoutS ?? commandTimeoutS }]
      if (fact.kind === 'probe')
        return [
          { key: keyOf(fact), argv: probeArgv(fact.name, fact.args ?? []), timeoutS: fact.timeoutS ?? commandTimeoutS },
        ]
      return []
    }),
    secretPaths: paths.filter((fact) => fact.secret).map((fact) => fact.path),
  }
}

export const sectionsOf = (question: Question): Section[] => {
  const sections: Section[] = [
    { name: 'os', args: [] },
    { name: 'self', args: [] },
    { name: 'units', args: question.units.length > 0 ? [unitProperties.join(','), ...question.units] : [] },
    { name: 'starts', args: question.startsOf },
    { name: 'paths', args: question.paths },
    { name: 'texts', args: question.texts.flatMap(({ path, max }) => [String(max), path]) },
    { name: 'digests', args: question.digests },
    { name: 'entries', args: question.directories },
    { name: 'leftovers', args: question.leftoversIn },
    { name: 'mounts', args: question.mounts },
    { name: 'packages', args: question.packages },
    { name: 'programs', args: question.programs },
    { name: 'ports', args: question.ports.map(String) },
    {
      name: 'commands',
      args: question.commands.flatMap(({ argv, timeoutS }) => [String(timeoutS), String(argv.length), ...argv]),
    },
  ]
  return sections.filter(({ name, args }) => args.length > 0 || name === 'os' || name === 'self')
}

const sourceOf: Readonly<Record<string, string>> = {
  os: 'os',
  self: 'self',
  leftovers: 'self',
  units: 'units',
  starts: 'units',
  paths: 'paths',
  texts: 'paths',
  digests: 'paths',
  entries: 'paths',
  mounts: 'paths',
  packages: 'other',
  programs: 'other',
  ports: 'other',
  commands: 'other',
  lease: 'lease',
}

/**
 * A check after changes renews the run's lease on the host, or gives it up when it is the last; the first look of a run
 * that may change the host sweeps away what dead runs left there.
 */
export interface LeaseAsk {
  readonly action: 'take' | 'free' | 'sweep'
  readonly run: string
  readonly owner: string
  readonly ttlS: number
}

/** The script and its arguments: only the parts that are asked for travel. */
export const inspectScript = (question: Question, lease?: LeaseAsk): { script: string; args: string[] } => {
  const sections = [
    ...sectionsOf(question),
    ...(lease === undefined
      ? []
      : [{ name: 'lease', args: [lease.action, lease.run, lease.owner, String(lease.ttlS)] }]),
  ]
  const parts = ['network', ...new Set(sections.map(({ name }) => sourceOf[name] ?? name))]
  const library = parts.map((part) => shellSource(new URL(`./inspect/${part}.sh`, import.meta.url))).join('')
  return {
    script: library + shellSource(new URL('./inspect/main.sh', import.meta.url)),
    args: sections.flatMap(({ name, args }) => [name, String(args.length), ...args]),
  }
}

/** Probes that run what lies on the host, and look first whose it is. */
const guarded: readonly ProbeName[] = ['agent-preflight', 'agent-version']

const probeArgv = (name: ProbeName, args: readonly string[]): string[] => [
  '/bin/sh',
  '-c',
  (guarded.includes(name) ? shellSource(new URL('./inspect/exec-of-root.sh', import.meta.url)) : '') +
    shellSource(new URL(`./probes/${name}.sh`, import.meta.url)),
  'drover',
  ...args,
]
