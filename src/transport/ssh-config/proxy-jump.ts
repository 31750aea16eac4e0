import { DroverError } from '../../errors.ts'
import { parseEndpoint } from '../../inventory/endpoint.ts'
import { nameProblem, quoted } from '../../inventory/names.ts'

/** One hop of a ProxyJump, as it is written. */
export interface JumpSpec {
  readonly text: string
  readonly host: string
  readonly user?: string
  readonly port?: number
}

/** `[user@]host[:port],...` or `ssh://` URIs, nearest to the workstation first; empty for none. */
export const parseProxyJump = (text: string | undefined, of: string): readonly JumpSpec[] => {
  if (text === undefined || text.toLowerCase() === 'none') return []
  return text.split(',').map((part) => {
    const plain = part.trim().replace(/^ssh:\/\/(.*?)\/?$/i, '$1')
    const endpoint = parseEndpoint(plain)
    // One in brackets without a port keeps them.
    const found = 'problem' in endpoint ? endpoint : { ...endpoint, host: endpoint.host.replace(/^\[(.*)\]$/, '$1') }
    const problem = 'problem' in found ? found.problem : nameProblem('address', found.host)
    if (problem !== undefined || 'problem' in found) {
      throw new DroverError({
        code: 'ssh-config-invalid',
        message: `The ProxyJump ${quoted(text)} of ${of} cannot be read: ${problem?.message ?? ''}`.trim(),
        remedy: 'Write [user@]host[:port], with a comma between two hops.',
      })
    }
    return { text: plain, ...found }
  })
}
