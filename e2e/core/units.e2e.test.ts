import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LEGACY, ROOT, recoveryScript } from '../../src/tasks/agent/paths.ts'
import { agentUnitFile } from '../../src/tasks/units/agent-unit.ts'
import { machinesTargetDropIn } from '../../src/tasks/units/machines-target-drop-in.ts'
import { recoveryScriptFile, recoveryUnitFile } from '../../src/tasks/units/recovery.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'

/** The units drover generates, judged by systemd itself on hosts where an agent is installed. */

const images = ['rhel9-like', 'ubuntu-like'] as const
let lab: Lab
const hosts = new Map<string, LabHost>()

beforeAll(async () => {
  lab = await openLab('units', { yes: true })
  await Promise.all(
    images.map(async (image) => {
      const name = `units-${image.slice(0, 4)}`
      hosts.set(image, await lab.boot({ name, image, agent: 'old', variant: 'container', worker: 'none' }))
    }),
  )
})

afterAll(() => lab?.close())

const hostOf = (image: string): LabHost => hosts.get(image) as LabHost

/** Puts files in place of the installed ones and asks systemd about the agent's unit. Empty: nothing to complain of. */
const verify = async (host: LabHost, files: Readonly<Record<string, string>>): Promise<string> => {
  for (const [path, content] of Object.entries(files))
    await host.put(path, content, path.endsWith('.sh') ? '0750' : '0644')
  const { stdout, stderr } = await host.sh(
    'systemd-analyze verify --man=no /etc/systemd/system/aks-flex-node-agent*.service 2>&1',
  )
  // systemd warns about every unit it loads along the way; only ours are under test.
  return (stdout + stderr)
    .split('\n')
    .filter((line) => line.includes('aks-flex-node'))
    .join('\n')
}

const unitDirectory = '/etc/systemd/system'

describe.each(images)('on %s systemd-analyze verify', (image) => {
  test.each(
    ([LEGACY, ROOT] as const).flatMap((hostRoot) =>
      (['host', 'container'] as const).flatMap((variant) => [false, true].map((arc) => ({ hostRoot, variant, arc }))),
    ),
  )('has nothing to say of the units for %o', async (options) => {
    const host = hostOf(image)
    if (options.hostRoot === ROOT)
      await host.must('mkdir -p /opt/unbounded/agent && cp -a /usr/local/lib /opt/unbounded/agent/')
    expect(
      await verify(host, {
        [`${unitDirectory}/aks-flex-node-agent.service`]: agentUnitFile(options).content,
        [`${unitDirectory}/aks-flex-node-agent.service.d/50-drover-machines-target.conf`]: machinesTargetDropIn.content,
        [`${unitDirectory}/aks-flex-node-agent-recovery.service`]: recoveryUnitFile(options.hostRoot),
        [recoveryScript(options.hostRoot)]: recoveryScriptFile(options.hostRoot),
      }),
    ).toBe('')
  })

  test('does complain of a unit with a comment behind a value, so the silence above means something', async () => {
    const bad = agentUnitFile({ hostRoot: LEGACY, variant: 'host', arc: false }).content.replace(
      'StartLimitBurst=5',
      'StartLimitBurst=5 # five',
    )
    expect(await verify(hostOf(image), { [`${unitDirectory}/aks-flex-node-agent.service`]: bad })).toMatch(
      /:7: .*5 # five/,
    )
  })

  test('loads the drop-in as its model says: Wants gains machines.target and nothing is ordered after it', async () => {
    const host = hostOf(image)
    const plain = agentUnitFile({ hostRoot: LEGACY, variant: 'host', arc: false }).content.replace(
      ' machines.target',
      '',
    )
    await verify(host, { [`${unitDirectory}/aks-flex-node-agent.service`]: plain })
    await host.must('systemctl daemon-reload')
    const shown = await host.must('systemctl show -p Wants,After --value aks-flex-node-agent.service')
    const [wants = '', after = ''] = shown
      .split('\n')
      .sort((one, other) => Number(other.includes('machines')) - Number(one.includes('machines')))
    expect(wants.split(' ')).toContain('machines.target')
    expect(after.split(' ')).not.toContain('machines.target')
  })
})
