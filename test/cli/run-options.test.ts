import { expect, test } from 'vitest'
import { optionVars, type RunOptions } from '../../src/cli/run-options.ts'
import { drover } from './harness.ts'
import { askedOnce } from './local-host.ts'
import { testTasks } from './test-tasks.ts'

const options = (given: Partial<RunOptions>): RunOptions => given as RunOptions

test.each<[Partial<RunOptions>, object]>([
  [{ ignorePreflightErrors: ['swap-active'] }, { ignore_preflight_errors: ['swap-active'] }],
  [{ failOnWarnings: true }, { fail_on_warnings: true }],
  [{ allowStart: ['kube2'] }, { allow_start: ['kube2'] }],
  [{ useOperatorLink: true }, { use_operator_link: true }],
  [{ forceSshInstall: true }, { force_ssh_install: true }],
  [{ allowHostRootDowngrade: true }, { allow_host_root_downgrade: true }],
  [{ stopAt: 'link' }, { stop_at: 'link' }],
  [{ stopAt: 'moved' }, { stop_at: 'moved' }],
  [{ allowInterface: ['wg0', 'wg1'] }, { allow_interface: ['wg0', 'wg1'] }],
  [{ yesRemoveEverything: true }, { yes_remove_everything: true }],
  [{ withoutAgentReset: true }, { agent_reset: false }],
  [{}, {}],
])('%j sets %j', (given, vars) => {
  expect(optionVars(options(given))).toEqual(vars)
})

test('flags of the command line reach the step, above -e', async () => {
  const content = '${stop_at} ${allow_interface.1} ${agent_reset} ${yes_remove_everything}'
  const ran = await drover(
    ['run', './p.yaml', '-i', 'a,', '-C', '-D']
      .concat(['-e', 'stop_at=moved', '-e', 'agent_reset=true', '-e', 'yes_remove_everything=false'])
      .concat(['--stop-at', 'link', '--allow-interface', 'wg0', '--allow-interface', 'wg1'])
      .concat(['--without-agent-reset', '--yes-remove-everything']),
    {
      files: {
        'p.yaml': `name: p\nsteps:\n  - task: file-present\n    with: {path: /no-such-place/x, content: "${content}"}\n`,
      },
      tasks: testTasks,
      hosts: { a: askedOnce() },
    },
  )
  expect(ran.stderr).toBe('')
  expect(ran.stdout).toMatch(/^ *\+ ?link wg1 false true$/m)
})
