import { z } from 'zod'
import type { ErrorDetails } from '../../errors.ts'
import type { HostView } from '../../facts/view.ts'
import { lockRefusal } from '../agent/activation-lock.ts'
import { agentUnit } from '../agent/names.ts'
import { activationLock } from '../agent/paths.ts'
import { keyValues } from '../agent/probe-answer.ts'
import { readService } from '../agent/service.ts'
import { isRoot } from '../agent/visible.ts'
import { systemdSilent } from '../worker/refusals.ts'
import { signsOfDeployment, trees } from './belongings.ts'
import { usableBinary } from './binary.ts'
import { mountsBelow } from './facts.ts'
import { readNetwork } from './network.ts'
import { mountedRefusal } from './removal.ts'
import { isMask } from './stopped.ts'

/** What decides whether the agent's own reset is run. */
export const ownResetShape = {
  agent_reset: z
    .boolean()
    .default(true)
    .describe("Run the agent's own reset where it has something to do; false: only what drover knows by name goes"),
  allow_interface: z
    .array(z.string())
    .default([])
    .describe("Network interfaces that the agent's own reset may delete although they may be yours, by name"),
} as const

export interface OwnReset {
  readonly agent_reset: boolean
  readonly allow_interface: readonly string[]
}

/** What every step of a reset needs of a host. */
export const hostRefusal = (view: HostView): ErrorDetails | null => {
  if (!view.systemd.ok) return systemdSilent(view.systemd.error)
  return isRoot(view) ? null : needsRoot
}

const needsRoot: ErrorDetails = {
  code: 'inspect-failed',
  message: 'Without root rights nothing of an agent can be removed, nor can it be seen what is there.',
  remedy: 'Log in as root, or get root rights through sudo: -b, or `become: true` in the inventory.',
}

/** All that could stop a reset is asked before anything is: a host must not be left with a stopped agent for it. */
export const resetRefusal = (view: HostView, choice: OwnReset): ErrorDetails | null =>
  hostRefusal(view) ??
  (readService(view)?.variant === 'container' ? containerVariant : null) ??
  heldByOthers(view) ??
  mountedRefusal(view, trees, mountsBelow) ??
  (ownResetBinary(view, choice) === null ? null : interfacesRefusal(view, choice))

/** W5: what a release of that variant puts on a host is in no source, so nobody could say that all of it is gone. */
const containerVariant: ErrorDetails = {
  code: 'precondition-unmet',
  message: `${agentUnit} is the container variant of the agent, which drover looks after and does not remove.`,
  remedy: 'Remove it as its container image says, or take the host out with --limit.',
}

/** An agent that moves or activates by itself is stopped all the same; anybody else is waited for. */
const heldByOthers = (view: HostView): ErrorDetails | null => {
  const holder = keyValues(view.probe('activation-lock', [activationLock]).stdout).get('holder') ?? ''
  return holder.split(' ')[2] === agentUnit ? null : lockRefusal(view)
}

export const isDeployed = (view: HostView): boolean =>
  signsOfDeployment.some((path) => view.node(path).type !== 'absent' && !isMask(view.node(path)))

/** The binary whose `reset` will be run; null where none is wanted, needed or usable. */
export const ownResetBinary = (view: HostView, { agent_reset }: OwnReset): string | null =>
  agent_reset && isDeployed(view) ? usableBinary(view) : null

const networkUnseen: ErrorDetails = {
  code: 'inspect-failed',
  message:
    "The network interfaces of the host could not be listed to the end, and the agent's own reset may delete one of yours. Nothing was changed by this step.",
  remedy: 'Try again. To remove only what drover knows by name: --without-agent-reset.',
}

/** It deletes by name, and a VPN of the operator's has such a name as well (M8). */
export const interfacesRefusal = (view: HostView, { allow_interface }: OwnReset): ErrorDetails | null => {
  const { isWhole, interfaces, ssh } = readNetwork(view)
  if (!isWhole) return networkUnseen
  // Where the way in is unknown it may be any of them.
  const yours = interfaces.filter((name) => name.startsWith('wg') || ssh.length === 0 || ssh.includes(name))
  const refused = yours.filter((name) => !allow_interface.includes(name))
  if (refused.length === 0) return null
  const [first = ''] = refused
  const way = refused.filter((name) => ssh.includes(name))
  return {
    code: 'interfaces-would-go',
    message: `The agent's own reset deletes the network interfaces ${refused.join(', ')}, and ${refused.length === 1 ? 'it' : 'each of them'} may be yours.${
      way.length === 0 ? '' : ` drover came in by ${way.join(', ')}.`
    } Nothing was changed by this step.`,
    remedy: `If ${first} may go: --allow-interface ${first}, once for each. To remove only what drover knows by name: --without-agent-reset.`,
  }
}
