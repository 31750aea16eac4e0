import { z } from 'zod'
import type { Ownership } from '../../facts/node.ts'

const principal = /^(?:\d{1,10}|[A-Za-z_][A-Za-z0-9._-]{0,63}\$?)$/

export const ownerParam = z
  .string()
  .refine(
    (owner) => owner.split(':').length === 2 && owner.split(':').every((part) => principal.test(part)),
    'This names no owner.\nWrite user:group, names or numbers, such as root:root.',
  )

/** Whether mode and owner are as wanted. A name is compared with the host's own name for the number. */
export const isOwnedSo = (node: Ownership, wanted: { readonly mode: number; readonly owner: string }): boolean => {
  const [user = '', group = ''] = wanted.owner.split(':')
  return node.mode === wanted.mode && isSame(user, node.uid, node.user) && isSame(group, node.gid, node.group)
}

const isSame = (wanted: string, id: number, name: string): boolean => {
  if (/^\d+$/.test(wanted)) return id === Number(wanted)
  return wanted === 'root' ? id === 0 : wanted === name
}
