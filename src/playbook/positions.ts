import type { Position } from '../inventory/positions.ts'
import type { StrictYaml, YamlPath } from '../inventory/strict-yaml.ts'
import type { Playbook } from './playbook.ts'

type Positions = Readonly<Record<string, { readonly line: number; readonly column: number }>>

/** Where everything below a place stands, kept because faults of a host are found long after the file was read. */
export const positionsBelow = (yaml: StrictYaml, path: YamlPath): Positions => {
  const found: [string, { line: number; column: number }][] = []
  const visit = (value: unknown, at: YamlPath): void => {
    const { line, column } = yaml.position(at)
    found.push([JSON.stringify(at), { line, column }])
    if (typeof value !== 'object' || value === null) return
    const isList = Array.isArray(value)
    for (const [step, inner] of Object.entries(value)) visit(inner, [...at, isList ? Number(step) : step])
  }
  visit(yaml.at(path), path)
  return Object.fromEntries(found)
}

/** The position of a value, or of the nearest thing around it that has one. */
export const positionIn = ({ file, positions = {}, steps }: Playbook, path: YamlPath): Position => {
  for (let length = path.length; length > 0; length--) {
    const key = JSON.stringify(path.slice(0, length))
    const at = Object.hasOwn(positions, key) ? positions[key] : undefined
    if (at !== undefined) return { file, ...at }
  }
  const step = path[0] === 'steps' ? steps[Number(path[1])] : undefined
  return { file, line: step?.position.line ?? 1, column: step?.position.column ?? 1 }
}
