import { commandKey } from '../../facts/fact.ts'
import type { Machine } from '../agent/names.ts'

/** Read-only: asks the systemd inside the worker (domain.md 5.3). */
export const kubeletArgv = (machine: Machine): readonly string[] => [
  'systemctl',
  `--machine=${machine}`,
  'is-active',
  'kubelet.service',
]

/** What a start of the worker leaves unknown about what runs inside it. */
export const insideWorker = (machine: Machine): readonly string[] => [commandKey(kubeletArgv(machine))]
