import { access, constants } from 'node:fs/promises'
import type { InputFault } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import type { CredentialStore } from '../login/credential-store.ts'
import type { PassphraseProvider } from '../login/keys.ts'
import { type KeyNeed, keyNeed } from './local-needs.ts'

export interface KeyNeedsOptions {
  readonly passphrase: PassphraseProvider
  readonly agentKeysOf: CredentialStore['agentKeysOf']
}

export interface HostKeyNeeds {
  readonly passphrase: (file: string) => Promise<string | undefined>
  readonly asksForPassphrase: boolean
  readonly agentKeyCount: number
}

/** What logging in takes of this machine's key files: each is looked at, and asked about, once for all hosts. */
export const createKeyNeeds = ({ passphrase, agentKeysOf }: KeyNeedsOptions) => {
  const needs = new Map<string, Promise<KeyNeed>>()
  const phrases = new Map<string, Promise<string | undefined>>()
  const phraseOf = (file: string): Promise<string | undefined> => {
    const known = phrases.get(file) ?? Promise.resolve(passphrase(file))
    phrases.set(file, known)
    return known
  }
  const needsOf = async (host: Host): Promise<readonly KeyNeed[]> => {
    const held = (await agentKeysOf(host)).map(({ blob }) => blob)
    return Promise.all(
      host.identityFiles.map((file) => {
        const key = JSON.stringify([file, host.identityAgent])
        const known = needs.get(key) ?? keyNeed(file, { passphrase: phraseOf, held })
        needs.set(key, known)
        return known
      }),
    )
  }
  return {
    of: async (host: Host): Promise<HostKeyNeeds> => ({
      passphrase: phraseOf,
      asksForPassphrase: (await needsOf(host)).includes('asks'),
      agentKeyCount: (await agentKeysOf(host)).length,
    }),
    /** What cannot be used, each file once. */
    faults: async (hosts: readonly Host[]): Promise<InputFault[]> => {
      const needs = (await Promise.all(hosts.map(needsOf))).flat()
      const certificates = [...new Set(hosts.flatMap(({ certificateFiles = [] }) => certificateFiles))]
      const missing = (await Promise.all(certificates.map(certificateFault))).filter((fault) => fault !== null)
      const faults = [...needs.filter((need) => typeof need === 'object'), ...missing]
      return [...new Map(faults.map((fault) => [`${fault.file}\0${fault.message}`, fault])).values()]
    },
  }
}

/** ssh passes over one that it cannot read, and the login then fails for a reason that nobody sees. */
const certificateFault = async (file: string): Promise<InputFault | null> => {
  try {
    await access(file, constants.R_OK)
    return null
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error)
    return {
      file,
      message: `the certificate cannot be read: ${reason}`,
      remedy: 'Correct the path, or its permissions.',
    }
  }
}
