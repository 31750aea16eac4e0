import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { fingerprintOf, keyTypeOf } from './host-key.ts'
import { hostKeyError } from './host-key-errors.ts'
import { keyPlaceOf, knownHostsName } from './host-pattern.ts'
import type { KnownHosts } from './known-hosts.ts'
import { appendKnownHost } from './known-hosts-append.ts'
import { judgeHostKey, knownTypes } from './known-hosts-lookup.ts'

/** The judgement of one connection about the key its host shows. */
export interface HostKeyCheck {
  /** Key types to ask for first. */
  readonly knownTypes: readonly string[]
  /**
   * Synchronous, because ssh2 takes the promise of an async verifier for consent (mscdex/ssh2#1268) and breaks when
   * a rekey has to wait for the answer.
   */
  verify(blob: Buffer): boolean
  /** Set once `verify` has refused. */
  readonly refusal: DroverError | undefined
  /** Writes down a key that was accepted as new. Rejects if the file learnt another one meanwhile. */
  record(): Promise<void>
}

export const createHostKeyCheck = (
  host: Host,
  knownHosts: KnownHosts,
  onNotice: (message: string) => void,
): HostKeyCheck => {
  const { address, port } = keyPlaceOf(host)
  const name = knownHostsName(address, port)
  let approved: Buffer | undefined
  let learnt: Buffer | undefined
  let refusal: DroverError | undefined

  const judge = (blob: Buffer): boolean => {
    if (host.hostKeyPolicy === 'off') {
      onNotice(`the host key of ${name} is not checked (host key policy off): anyone could answer in its place`)
      return true
    }
    const verdict = judgeHostKey(knownHosts.about(address, port), blob)
    if (verdict.status === 'ok') return true
    if (verdict.status === 'unknown' && host.hostKeyPolicy === 'accept-new') {
      learnt = blob
      return true
    }
    refusal = hostKeyError(host, blob, verdict)
    return false
  }

  return {
    knownTypes: knownTypes(knownHosts.about(address, port)),
    get refusal() {
      return refusal
    },
    verify: (shown) => {
      // ssh2 may reuse the packet this is a part of.
      const blob = Buffer.from(shown)
      if (approved !== undefined) return approved.equals(blob)
      const isAccepted = judge(blob)
      if (isAccepted) approved = blob
      return isAccepted
    },
    record: async () => {
      if (learnt === undefined) return
      const blob = learnt
      learnt = undefined
      const known = judgeHostKey(knownHosts.about(address, port), blob)
      if (known.status === 'ok') return
      if (known.status !== 'unknown') throw hostKeyError(host, blob, known)
      const shown = `${keyTypeOf(blob)} ${fingerprintOf(blob)}`
      try {
        const before = await appendKnownHost(knownHosts.learnFile, { address, port, blob })
        if (before.status === 'unknown') onNotice(`learnt the host key of ${name}: ${shown}`)
        else if (before.status !== 'ok') throw hostKeyError(host, blob, before)
        knownHosts.learn(address, port, blob)
      } catch (error) {
        if (error instanceof DroverError) throw error
        // For the rest of this run, at least.
        knownHosts.learn(address, port, blob)
        onNotice(`could not write the host key of ${name} (${shown}) to ${knownHosts.learnFile}: ${String(error)}`)
      }
    },
  }
}
