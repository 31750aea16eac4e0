import type { HostView } from '../../facts/view.ts'
import type { Host } from '../../inventory/host.ts'
import { readConfig } from './config.ts'
import { configFile } from './paths.ts'
import { isRoot } from './visible.ts'

export interface Offline {
  readonly offline: boolean
  /** Set where the host's own word overrules the inventory's. */
  readonly disagreement?: string
}

/** Rule W6: config.json decides where it exists and can be read, else the inventory. Ask with `configFacts`. */
export const offline = (view: HostView, host: Host): Offline => {
  const config = isRoot(view) ? readConfig(view) : null
  if (config?.is !== 'valid') return { offline: host.offline }
  if (config.offline === host.offline) return { offline: config.offline }
  return {
    offline: config.offline,
    disagreement: `${configFile} says ${word(config.offline)}, the inventory says ${word(host.offline)}; config.json decides`,
  }
}

const word = (isOffline: boolean): string => (isOffline ? 'offline' : 'online')
