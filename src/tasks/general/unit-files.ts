import type { Change } from '../../changes/change.ts'
import { unitDirectories } from '../../facts/unit.ts'

/** A unit file, drop-in or `.wants` link counts only once systemd has read it, so its change ends in a reload. */
export const reloadFor = (place: string): Change[] =>
  unitDirectories.some((directory) => place.startsWith(`${directory}/`))
    ? [{ kind: 'systemctl', verb: 'daemon-reload' }]
    : []
