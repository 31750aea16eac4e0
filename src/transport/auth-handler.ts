import type { AnyAuthMethod, AuthHandlerMiddleware, ParsedKey } from 'ssh2'
import { SingleKeyAgent } from './agent.ts'
import { fingerprintOf } from './host-key.ts'
import type { LoadedKey } from './keys.ts'

// Servers end the connection at six failures, and from OpenSSH 9.8 on penalise the address for each.
const maxAttempts = 5

/** One key to log in with. */
export interface Credential {
  readonly label: string
  readonly method: AnyAuthMethod
}

export interface CredentialSources {
  readonly user: string
  readonly keys: readonly LoadedKey[]
  readonly agentSocket: string | undefined
  readonly agentKeys: readonly ParsedKey[]
}

/** The configured keys in their order, then what else the agent holds, as many as a server takes. */
export const listCredentials = ({ user, keys, agentSocket, agentKeys }: CredentialSources): Credential[] => {
  const configured = keys.map((loaded) =>
    loaded.via === 'agent' && agentSocket !== undefined
      ? agentCredential(user, agentSocket, loaded.key, `${loaded.file} by ssh-agent`)
      : fileCredential(user, loaded),
  )
  const isConfigured = (key: ParsedKey) => keys.some((loaded) => loaded.key.getPublicSSH().equals(key.getPublicSSH()))
  const others = agentSocket === undefined ? [] : agentKeys.filter((key) => !isConfigured(key))
  const held = others.map((key) => agentCredential(user, agentSocket ?? '', key, 'ssh-agent'))
  return [...configured, ...held].slice(0, maxAttempts)
}

const fileCredential = (username: string, { file, key }: LoadedKey): Credential => ({
  label: `${file} (${key.type} ${fingerprintOf(key.getPublicSSH())})`,
  method: { type: 'publickey', username, key },
})

const agentCredential = (username: string, socket: string, key: ParsedKey, source: string): Credential => ({
  label: `${source} (${key.type} ${fingerprintOf(key.getPublicSSH())})`,
  method: { type: 'agent', username, agent: new SingleKeyAgent(socket, key) },
})

/** What happened during one authentication, for the error message. */
export interface AuthAttempt {
  readonly handler: AuthHandlerMiddleware
  readonly offered: readonly string[]
  /** What the server would still take; empty until it has refused something. */
  readonly serverMethods: readonly string[]
  /** A key was right, and the server wants something more. */
  readonly isPartial: boolean
}

/** Offers each credential once. No `none` probe: it costs a round trip and tells nothing we need. */
export const createAuthAttempt = (credentials: readonly Credential[]): AuthAttempt => {
  const offered: string[] = []
  let serverMethods: readonly string[] = []
  let isPartial = false
  const handler = (methodsLeft: readonly string[] | null, partial: boolean | null): AnyAuthMethod | false => {
    serverMethods = methodsLeft ?? []
    isPartial ||= partial === true
    const credential = credentials[offered.length]
    if (credential === undefined || (methodsLeft !== null && !methodsLeft.includes('publickey'))) return false
    offered.push(credential.label)
    return credential.method
  }
  return {
    handler,
    offered,
    get serverMethods() {
      return serverMethods
    },
    get isPartial() {
      return isPartial
    },
  }
}
