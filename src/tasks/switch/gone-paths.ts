import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { fault } from '../agent/finding.ts'
import { machines, workerUnit } from '../agent/names.ts'
import {
  agentBinary,
  agentUnitFile,
  dropInFile,
  LEGACY,
  layoutMarkers,
  lifecycleHelper,
  recoveryScript,
  recoveryUnitFile,
  unitDirectory,
} from '../agent/paths.ts'
import type { Finding } from '../task.ts'

/** Files that name paths of the agent, and outlive a move or a switch. */
const texts: readonly string[] = [
  agentUnitFile,
  recoveryUnitFile,
  dropInFile,
  ...machines.flatMap((machine) => [
    `${unitDirectory}/${workerUnit(machine)}.d/override.conf`,
    `${unitDirectory}/unbounded-agent-regenerate-config@${machine}.service`,
  ]),
  `${unitDirectory}/unbounded-localdns-network.service`,
]

/** What of the agent lies, or lay, below /usr/local. */
const oldPaths: readonly string[] = [
  agentBinary(LEGACY),
  ...layoutMarkers(LEGACY),
  recoveryScript(LEGACY),
  lifecycleHelper(LEGACY),
  `${LEGACY}/libexec/unbounded-localdns-network`,
]

export const gonePathsFacts = (): Fact[] => [
  ...texts.map((path): Fact => ({ kind: 'path', path, content: 65_536, sha256: true })),
  ...oldPaths.map((path): Fact => ({ kind: 'path', path })),
]

/** After a move or a switch nothing may name what is not there any more (domain.md 7.8). */
export const gonePaths = (view: HostView): Finding[] =>
  texts.flatMap((file) => {
    const text = view.text(file) ?? ''
    return oldPaths
      .filter((path) => names(text, path) && view.target(path).type === 'absent')
      .map((path) =>
        fault({
          check: 'gone-path',
          target: file,
          message: `${file} names ${path}, which is gone`,
          remedy: `Restart the agent once, which writes its units anew; if it stays, look at who wrote ${file}.`,
        }),
      )
  })

/** As a whole word: one path may be the beginning of another. */
const names = (text: string, path: string): boolean => text.split(/[\s"'=;]+/).includes(path)
