import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stateFolder } from '../e2e/lab/state.ts'

export const root = fileURLToPath(new URL('../', import.meta.url))
export const node = join(root, 'node_modules/node/bin/node')

/** Where a bench keeps what it builds and installs: below the lab's own folder, which git ignores. */
export const benchFolder = (...parts: string[]): string => stateFolder('bench', ...parts)
