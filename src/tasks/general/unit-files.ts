import type { Change } from '../../changes/change.ts'

const unitDirectory = /^\/(etc|run|lib|usr\/lib|usr\/local\/lib)\/systemd\/system\//

/** A unit file, drop-in or `.wants` link counts only once systemd has read it, so its change ends in a reload. */
export const reloadFor = (place: string): Change[] =>
  unitDirectory.test(place) ? [{ kind: 'systemctl', verb: 'daemon-reload' }] : []
