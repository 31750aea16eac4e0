import type { ScalarTag } from 'yaml'

export const secretTag = '!secret'

/** The one tag that a file may hold: its text says where a secret comes from (secret-reference.ts). */
export const tags: ScalarTag[] = [{ tag: secretTag, resolve: (text) => text }]
