import type { Host } from '../../src/inventory/host.ts'

/** A host as the inventory would give it, with what the test cares about. */
export const fakeHost = (over: Partial<Host> = {}): Host => ({
  name: 'host-1',
  address: '192.0.2.1',
  port: 22,
  user: 'root',
  identityFiles: [],
  become: false,
  jump: [],
  variant: 'host',
  offline: false,
  knownHostsFiles: [],
  hostKeyPolicy: 'strict',
  groups: ['all'],
  vars: {},
  ...over,
})
