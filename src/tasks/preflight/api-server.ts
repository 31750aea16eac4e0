import { fault, fine } from '../agent/finding.ts'
import { keyValues } from '../agent/probe-answer.ts'
import type { Finding } from '../task.ts'
import type { Check } from './check.ts'
import { couldNotRun, notRun } from './not-run.ts'

const check = 'api-server-reachable'
const target = 'API server'

/** Addresses stay on the host: findings name none (domain.md 2.3). */
export const apiServerReachable: Check = {
  name: check,
  facts: () => [{ kind: 'probe', name: 'api-server' }],
  evaluate: (view) => [judged(keyValues(view.probe('api-server').stdout))],
}

const judged = (answer: ReadonlyMap<string, string>): Finding => {
  if (answer.get('config') === 'missing') return notRun(check, 'the host has no config.json that names the API server')
  if (answer.get('config') !== 'present')
    return bad('config.json cannot be read', 'Let drover read it: connect as root, or use --become (-b).')
  switch (answer.get('address')) {
    case 'in-kubeconfig':
      return couldNotRun(
        check,
        'the API server is named only inside a kubeconfig, which drover does not open',
        'Ask it for /readyz from the host by hand, or set node.kubelet.clusterFQDN in config.json.',
      )
    case 'unset':
      return bad('config.json names no API server', 'Set node.kubelet.clusterFQDN in config.json.')
    case 'set':
      break
    default:
      return bad(
        'the address of the API server in config.json is not valid',
        'Correct node.kubelet.clusterFQDN in config.json.',
      )
  }
  if (answer.get('curl') === 'missing')
    return couldNotRun(check, 'curl is not installed', 'Install curl on the host, then run preflight again.')
  const status = Number(answer.get('http') ?? 0)
  // 401 and 403 are answers, too.
  if (status > 0 && status < 500) return fine({ check, target, message: `the API server answered ${status}` })
  return status >= 500
    ? bad(`the API server answered ${status}`, 'Look at the cluster, then run preflight again.')
    : bad(
        `the API server did not answer: ${curlError(answer.get('curl'))}`,
        'Open the way from the host to the API server: name resolution, routes, firewall.',
      )
}

const bad = (message: string, remedy: string): Finding => fault({ check, target, message, remedy })

const curlError = (code: string | undefined): string => {
  switch (code) {
    case '6':
      return 'its name has no address'
    case '7':
      return 'connection refused or no route'
    case '28':
    case '124':
      return 'no answer within 10 seconds'
    case '35':
      return 'no TLS on the other side'
    default:
      return `curl ended with ${code ?? 'no code'}`
  }
}
