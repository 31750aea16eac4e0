/** Names on the host that drover and the agent agree on (domain.md 1.4, 3). */
export const agentUnit = 'aks-flex-node-agent.service'
export const recoveryUnit = 'aks-flex-node-agent-recovery.service'
export const bootstrapUnit = 'aks-flex-node-bootstrap.service'
export const containerdUnit = 'containerd.service'
export const machinesTarget = 'machines.target'

/** The two sides of the worker. The set is closed: facts are known before connecting. */
export const machines = ['kube1', 'kube2'] as const
export type Machine = (typeof machines)[number]

export const isMachine = (name: unknown): name is Machine => machines.some((machine) => machine === name)
export const workerUnit = (machine: Machine): string => `systemd-nspawn@${machine}.service`
export const workerUnits: readonly string[] = machines.map(workerUnit)
/** What systemd-container itself puts under machines.target: it starts no machine. */
export const imageMount = 'var-lib-machines.mount'
