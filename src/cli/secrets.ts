import type { HostPlay } from '../playbook/playbook.ts'
import { Secret } from '../secret.ts'
import type { CliContext } from './context.ts'

/** Every secret that the run holds, for the redactor alone. */
export const secretsOf = (
  { plays, passwords }: { readonly plays: readonly HostPlay[]; readonly passwords: readonly Secret[] },
  { env }: Pick<CliContext, 'env'>,
): ReadonlySet<string> => {
  const found = new Set<string>()
  const seen = new Set<unknown>()
  const visit = (value: unknown): void => {
    if (value instanceof Secret) found.add(value.reveal())
    // Hosts whose parameters are equal share them.
    else if (typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value)
      for (const inner of value instanceof Map ? value.values() : Object.values(value)) visit(inner)
    }
  }
  for (const { steps } of plays) for (const { params } of steps) visit(params)
  for (const password of passwords) found.add(password.reveal())
  if (env.DROVER_KEY_PASSPHRASE) found.add(env.DROVER_KEY_PASSPHRASE)
  return found
}
