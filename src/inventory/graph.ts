import type { Group, Inventory } from './host.ts'

/** A tree as `ansible-inventory --graph` draws it. A group with several parents is drawn once in full. */
export const graph = (inventory: Inventory): string => {
  const groups = new Map(inventory.groups.map((group) => [group.name, group]))
  const drawn = new Set<string>()
  const lines: string[] = []
  // Not recursive: a chain of groups may be longer than the call stack.
  const waiting: { name: string; depth: number; isHost: boolean }[] = [{ name: 'all', depth: 0, isHost: false }]
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    const { name, depth, isHost } = item
    const indent = depth === 0 ? '' : `${'  |'.repeat(depth)}--`
    const group = isHost ? undefined : groups.get(name)
    if (group === undefined) {
      lines.push(indent + name)
      continue
    }
    const again = drawn.has(name) && !isEmpty(group)
    lines.push(`${indent}@${name}:${again ? ' (see above)' : ''}`)
    drawn.add(name)
    if (again) continue
    const inner = [
      ...group.children.map((child) => ({ name: child, depth: depth + 1, isHost: false })),
      ...group.hosts.map((host) => ({ name: host, depth: depth + 1, isHost: true })),
    ]
    waiting.push(...inner.reverse())
  }
  return `${lines.join('\n')}\n`
}

const isEmpty = (group: Group): boolean => group.hosts.length + group.children.length === 0
