import type { ErrorDetails } from '../../errors.ts'
import type { Fact } from '../../facts/fact.ts'
import type { HostView } from '../../facts/view.ts'
import { type HostRootState, hostRootState } from '../agent/host-root.ts'
import { hostRootFacts, hostRootSigns } from '../agent/host-root-signs.ts'
import { wayOutOf } from '../agent/kept-layout.ts'
import { settledRoot } from '../agent/layout.ts'
import { type HostRoot, LEGACY, ROOT } from '../agent/paths.ts'
import { unsettledRoot } from '../switch/unsettled-root.ts'

interface RootChoice {
  readonly use_operator_link: boolean
  readonly force_ssh_install: boolean
}

const legacyBin = `${LEGACY}/bin`

export const rootFacts = (): Fact[] => [
  ...hostRootFacts(),
  { kind: 'path', path: legacyBin },
  { kind: 'mount', path: legacyBin },
]

export const readRootState = (view: HostView): HostRootState => hostRootState(hostRootSigns(view))

/** The root that holds the layout now; null where there is none, or none that is settled. */
export const layoutRoot = (state: HostRootState): HostRoot | null =>
  state === 'OPERATOR-LINK' ? ROOT : settledRoot(state)

/**
 * Where an installation goes (domain.md 9.1): where a layout is already; else a real ROOT; else /usr/local where that
 * can be written; else ROOT. Whatever of it a cut run leaves makes the next one choose the same.
 */
export const installRoot = (view: HostView, choice: RootChoice): HostRoot | ErrorDetails => {
  const state = readRootState(view)
  const settled = settledRoot(state)
  if (settled !== null) return settled
  switch (state) {
    case 'OPERATOR-LINK':
      return throughOperatorLink(view, choice)
    case 'EMPTY-ROOT':
    case 'ABSENT':
    case 'LINK-ORPHAN':
      if (view.os.family === 'acl' && !choice.force_ssh_install) return imageManaged
      return state === 'EMPTY-ROOT' || (state === 'ABSENT' && !isWritable(view)) ? ROOT : LEGACY
    case 'BLOCKED':
      return notADirectory
    default:
      return unfinished(view, state)
  }
}

/** No agent is installed that could go on with it, as after a reset that kept the layout. */
const unfinished = (view: HostView, state: HostRootState): ErrorDetails => {
  const refusal = unsettledRoot(view, state)
  return { ...refusal, remedy: wayOutOf(state) ?? refusal.remedy }
}

const isWritable = (view: HostView): boolean =>
  ['directory', 'absent'].includes(view.target(legacyBin).type) && !view.mount(legacyBin).readOnly

/** Rule M2. To the agent the link is the root, so every path goes on being named through it. */
const throughOperatorLink = (view: HostView, { use_operator_link }: RootChoice): HostRoot | ErrorDetails => {
  const node = view.node(ROOT)
  const target = node.type === 'symlink' ? node.target : ''
  const link = {
    code: 'operator-link',
    message: `${ROOT} is a link to ${target}, which neither drover nor the agent made.`,
  } as const
  if (!use_operator_link)
    return {
      ...link,
      remedy: 'If the agent is to be installed into where it leads: --use-operator-link. Otherwise remove the link.',
    }
  const isDirectory = view.target(ROOT).type === 'directory'
  const place = isDirectory ? view.realPath(ROOT) : ''
  if (isDirectory && place !== view.realPath(LEGACY)) return ROOT
  return {
    ...link,
    message: `${link.message} ${isDirectory ? `That is ${LEGACY} by another name, so both roots would be one.` : 'No directory is there.'}`,
    remedy: isDirectory
      ? `Let it lead elsewhere, or remove it.`
      : `Make the directory ${target} first, or remove the link.`,
  }
}

const imageManaged: ErrorDetails = {
  code: 'image-managed',
  message: 'The host is made from an image and has no agent: such hosts get it by Ignition when they are provisioned.',
  remedy: 'Provision it with what drover ignition writes. To install over SSH all the same: --force-ssh-install.',
}

const notADirectory: ErrorDetails = {
  code: 'layout-unknown',
  message: `${ROOT} is neither a directory nor a link.`,
  remedy: 'Look at who put it there and move it away: the agent does not start on such a host.',
}
