import { fine } from '../agent/finding.ts'
import { type Check, faultUnlessDeployed } from './check.ts'

const free = (name: string, port: number): Check => ({
  name,
  facts: () => [{ kind: 'port', port }],
  evaluate: (view, context) => {
    const seen = { check: name, target: `0.0.0.0:${port}` }
    const owner = view.port(port)
    if (owner === null) return [fine({ ...seen, message: `port ${port} is free` })]
    return [
      faultUnlessDeployed(context, {
        ...seen,
        message: `port ${port} is in use by ${owner === '' ? 'a process that cannot be seen' : owner}`,
        remedy: `Stop what listens on port ${port}.`,
      }),
    ]
  },
})

export const kubeletPort = free('kubelet-bind-address', 10_250)
export const containerdMetricsPort = free('containerd-metrics-bind-address', 10_257)
