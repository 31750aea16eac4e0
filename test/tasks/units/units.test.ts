import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LEGACY, ROOT } from '../../../src/tasks/agent/paths.ts'
import { agentUnitFile } from '../../../src/tasks/units/agent-unit.ts'
import { machinesTargetDropIn } from '../../../src/tasks/units/machines-target-drop-in.ts'
import { recoveryScriptFile, recoveryUnitFile } from '../../../src/tasks/units/recovery.ts'
import { unitFile } from '../../../src/tasks/units/unit-file.ts'

const golden = (name: string): string => readFileSync(new URL(`../../golden/${name}`, import.meta.url), 'utf8')

const written: [string, string][] = [
  ['aks-flex-node-agent.service', agentUnitFile({ hostRoot: ROOT, variant: 'host', arc: false }).content],
  ['aks-flex-node-agent-legacy.service', agentUnitFile({ hostRoot: LEGACY, variant: 'host', arc: false }).content],
  ['aks-flex-node-agent-arc.service', agentUnitFile({ hostRoot: ROOT, variant: 'host', arc: true }).content],
  [
    'aks-flex-node-agent-container.service',
    agentUnitFile({ hostRoot: ROOT, variant: 'container', arc: false }).content,
  ],
  ['aks-flex-node-agent-recovery.service', recoveryUnitFile(ROOT)],
  ['aks-flex-node-recovery.sh', recoveryScriptFile(ROOT)],
  ['50-drover-machines-target.conf', machinesTargetDropIn.content],
]

test.each(written)('%s is its golden file, byte for byte', (name, content) => expect(content).toBe(golden(name)))

describe.each(written.filter(([name]) => !name.endsWith('.sh')))('%s', (_, content) => {
  test('no comment stands behind a value: systemd would take it for one', () => {
    for (const line of content.split('\n')) expect(line).toMatch(/^($|\[\w+\]$|\w+=[^#;]*$)/)
  })
  test('no unit is ordered after machines.target', () => expect(content).not.toMatch(/^After=.*machines\.target/m))
})

test('the model says what the text says', () => {
  for (const arc of [true, false]) {
    for (const variant of ['host', 'container'] as const) {
      const { content, model } = agentUnitFile({ hostRoot: ROOT, variant, arc })
      for (const property of ['Wants', 'After', 'Requires'] as const) {
        const line = new RegExp(`^${property}=(.*)$`, 'm').exec(content)?.[1]
        expect(model.adds?.[property]?.join(' ')).toBe(line)
      }
    }
  }
  expect(machinesTargetDropIn.model.adds).toEqual({ Wants: ['machines.target'] })
})

test('no value can begin a line of its own, continue onto the next, or carry a comment', () => {
  const hostile = fc
    .tuple(fc.string(), fc.constantFrom('\n', '\r', '\0', ' # x'), fc.string())
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(hostile, (value) => {
      expect(() => unitFile([{ name: 'Unit', lines: [['Description', value]] }])).toThrow()
    }),
  )
  expect(() => unitFile([{ name: 'Unit', lines: [['Description', 'x\\']] }])).toThrow()
})
