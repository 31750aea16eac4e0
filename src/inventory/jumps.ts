import { parseEndpoint } from './endpoint.ts'
import type { Host } from './host.ts'
import { nameProblem, quoted } from './names.ts'
import { didYouMean, nearNames } from './near.ts'
import type { FaultList, Located } from './positions.ts'
import { faultAt, showPosition } from './positions.ts'

/** A host on its way: its hops are put in when all hosts are known. */
export interface Traveller {
  readonly host: Host & { readonly jump: Host[] }
  readonly via: Located<readonly string[]> | undefined
}

/** `user@address:port`, taken apart. */
export interface Hop {
  readonly text: string
  readonly address: string
  readonly port: number
  readonly isPortGiven: boolean
  readonly user: string
}

interface JumpContext {
  readonly travellers: ReadonlyMap<string, Traveller>
  /** Makes the host of a hop that stands in this file. */
  readonly stranger: (hop: Hop, file: string) => Host
  readonly complete: boolean
  readonly list: FaultList
}

const hopLimit = 8

/**
 * Writes each host's whole way into `jump`: only the first hop is reached from the workstation, so only its own
 * hops come before it. Users of `jump` must not follow the hops' own jumps again.
 */
export const connectJumps = (context: JumpContext): void => {
  const hopOf = hopFinder(context)
  for (const traveller of context.travellers.values()) traveller.host.jump.push(...wayOf(traveller, hopOf, context))
}

const wayOf = (start: Traveller, hopOf: HopFinder, { travellers, list }: JumpContext): Host[] => {
  let way: Host[] = []
  let via = start.via
  const { name } = start.host
  while (via !== undefined && via.value.length > 0) {
    const { at, value } = via
    const hops = value.flatMap((text) => hopOf(text, at) ?? [])
    way = [...hops, ...way]
    const names = [name, ...way.map((hop) => hop.name)]
    const again = names.find((hop, index) => names.indexOf(hop) !== index)
    if (again !== undefined) {
      const remedy = `Give ${again} its own way: jump: [] if it is reached directly.`
      list.add(faultAt(at, `The way to ${name} passes ${again} twice.`, remedy), `cycle ${again} ${showPosition(at)}`)
      return []
    }
    if (way.length > hopLimit) {
      list.add(
        faultAt(at, `The way to ${name} has more than ${hopLimit} hops.`, 'Shorten it.'),
        `hops ${showPosition(at)}`,
      )
      return []
    }
    const [first] = hops
    via = first === undefined ? undefined : travellers.get(first.name)?.via
  }
  return way
}

type HopFinder = (text: string, at: Located<unknown>['at']) => Host | undefined

const hopFinder = ({ travellers, stranger, complete, list }: JumpContext): HopFinder => {
  const near = nearNames([...travellers.keys()])
  const strangers = new Map<string, Host>()
  return (text, at) => {
    // One hop for each source that names it: each reaches it with its own settings.
    const place = JSON.stringify([text, at.file])
    const known = travellers.get(text)?.host ?? strangers.get(place)
    if (known !== undefined) return known
    const fault = (message: string, remedy: string): undefined => {
      list.add(faultAt(at, message, remedy), `hop ${text} ${showPosition(at)}`)
    }
    if (!text.includes('@')) {
      const remedy = didYouMean(near(text), 'Declare the host, or write user@address:port.')
      return complete ? fault(`The jump host ${quoted(text)} is not in the inventory.`, remedy) : undefined
    }
    const endpoint = parseEndpoint(text)
    const problem = 'problem' in endpoint ? endpoint.problem : nameProblem('address', endpoint.host)
    if (problem !== undefined) return fault(problem.message, problem.remedy)
    if ('problem' in endpoint || endpoint.user === undefined) return undefined
    const host = stranger(
      {
        text,
        address: endpoint.host,
        port: endpoint.port ?? 22,
        isPortGiven: endpoint.port !== undefined,
        user: endpoint.user,
      },
      at.file,
    )
    strangers.set(place, host)
    return host
  }
}
