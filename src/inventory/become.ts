import type { Host } from './host.ts'

/** Whoever logs in as root has nothing to become, and such hosts may have no sudo at all. */
export const needsSudo = ({ become, user }: Host): boolean => become && user !== 'root'
