import type { HostReport } from './host-report.ts'
import type { RunReport } from './run-report.ts'

const good: readonly HostReport['outcome'][] = ['unchanged', 'changed', 'would-change', 'skipped']

/** Hosts that are not as the run wanted them: what `-l @FILE` takes to go on with. */
export const unfinishedHosts = ({ hosts }: RunReport): readonly string[] =>
  hosts.filter(({ outcome }) => !good.includes(outcome)).map(({ name }) => name)
