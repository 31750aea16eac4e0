import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ownScriptText } from '../../src/provision/bootstrap-script.ts'
import { unitText } from '../../src/provision/unit.ts'
import { bootstrapUnit } from '../../src/tasks/agent/names.ts'
import {
  activationLock,
  agentBinary,
  agentUnitFile,
  configFile,
  LEGACY,
  layoutMarkers,
  libraryDirectory,
  ROOT,
} from '../../src/tasks/agent/paths.ts'

/** What the bootstrap script, which can import nothing, must have in common with the rest (domain.md 11.50). */

const at = (name: string): string => readFileSync(new URL(`../../src/provision/${name}`, import.meta.url), 'utf8')
const script = ownScriptText()

test('11.50 the paths in the bootstrap script are those that drover and the agent use', () => {
  const constants = Object.fromEntries(
    [...script.matchAll(/^([A-Z_]+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
  expect(constants).toEqual({ HOST_ROOT: ROOT, LEGACY_ROOT: LEGACY, AGENT_UNIT: agentUnitFile, LOCK: activationLock })
  expect(script).toContain(`config=\${config:-${configFile}}`)
  expect(
    [/^ {2}bin=\$root(\S+)$/m, /^ {2}library=\$root(\S+)$/m].map((line) => `${ROOT}${line.exec(script)?.[1]}`),
  ).toEqual([agentBinary(ROOT), libraryDirectory(ROOT)])
  const [, slots = ''] = /for slot in ([a-z -]+); do/.exec(script) ?? []
  expect(slots.split(' ').map((slot) => `${libraryDirectory(ROOT)}/aks-flex-node-${slot}`)).toEqual(layoutMarkers(ROOT))
})

test('11.50 the unit of the first boot has the name that a reset removes, and waits for no agent but this one', () => {
  expect(bootstrapUnit).toBe('aks-flex-node-bootstrap.service')
  expect(unitText).toContain(`\nConditionPathExists=!${agentUnitFile}\n`)
})

test('#383 what the script ends with for good is what the unit does not try again', () => {
  const [, final = ''] = /^give_up\(\) \{.*; exit (\d+); \}$/m.exec(script) ?? []
  expect(unitText).toContain(`\nRestartPreventExitStatus=${final}\n`)
  expect([...new Set([...script.matchAll(/\bexit (\d+)/g)].map(([, code]) => code))].sort()).toEqual(['1', final])
})

test('every setting that is rendered for a host is one that the script knows', () => {
  const taken = new Set([...script.matchAll(/^ {2}take [a-z_]+ ([A-Z0-9_]+)$/gm)].map(([, name]) => name))
  const rendered = [...at('settings.ts').matchAll(/\['([A-Z0-9_]+)',/g)].map(([, name]) => name)
  expect(rendered.length).toBeGreaterThan(10)
  expect(rendered.filter((name) => !taken.has(name))).toEqual([])
  expect(unitText).toContain('\nEnvironment=AKS_FLEX_NODE_BASE_CONFIG_FILE=')
  expect(taken.has('BASE_CONFIG_FILE')).toBe(true)
})

test('the agent is never run under the umask of the script', () => {
  expect(script).toContain('as_usual() { (umask 022 && exec "$@"); }')
  const runs = script.split('\n').filter((line) => /"\$(bin|staged)" (preflight|start|version|fetch-)/.test(line))
  expect(runs).toHaveLength(4)
  for (const line of runs) expect(line).toMatch(/as_usual|umask 022/)
})

test('what a full disk may cause is not given up on', () => {
  const givenUp = script.split('\n').filter((line) => line.includes('one_object') && line.includes('give_up'))
  expect(givenUp).toHaveLength(2)
  for (const line of givenUp) expect(line).toContain('>/dev/null ||')
  const [, edit = ''] = /^edit\(\) \{\n([\s\S]*?)^\}/m.exec(script) ?? []
  expect(edit).toMatch(/ 5\) give_up .*\n +\*\) fail /)
})
