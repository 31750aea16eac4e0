import { Command, Option } from 'commander'
import type { CliContext, WholeContext } from './context.ts'
import { examples } from './examples.ts'
import {
  aliasOf,
  collect,
  commaList,
  connectionOptions,
  duration,
  inventoryOptions,
  logOptions,
  oneLine,
  outputOption,
  positiveInteger,
  provisionOptions,
  rate,
  recordedOptions,
  sinceOption,
  sshConfigOption,
} from './options.ts'

/** The whole command tree. Each verb is a file beside this one, loaded when it is called for. */
export const createProgram = (context: CliContext, onExitCode: (code: number) => void): Command => {
  const act =
    <A extends readonly unknown[]>(verb: (...args: A) => Promise<number>) =>
    async (...args: A): Promise<void> =>
      onExitCode(await verb(...args))
  const actWhole = <A extends readonly unknown[]>(verb: (whole: WholeContext, ...args: A) => Promise<number>) =>
    act(async (...args: A) => verb({ ...context, ...(await context.load()) }, ...args))

  const program = new Command('drover')
    .description(
      'Drives a fleet of Linux hosts over SSH: finds what is wrong, changes only what must change, and verifies it.',
    )
    .version(context.version, '--version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: context.stdout.write,
      writeErr: context.stderr.write,
      outputError: () => {},
      getOutHelpWidth: () => context.stdout.columns ?? 100,
    })
    .addHelpText('after', examples.drover)

  const run = program
    .command('run')
    .argument('<playbook>', 'name of a playbook of drover, or a path')
    .description('bring hosts to what a playbook wants')
  inventoryOptions(run).addHelpText('after', examples.run)
  connectionOptions(run)
    .option('-C, --check', 'dry run: read and plan, change nothing (also --dry-run)')
    .addOption(aliasOf('check', '--dry-run'))
    .option('-D, --diff', 'show what changes in files')
    .option(
      '-e, --extra-vars <vars>',
      'name=value, {"name": ...} or @file; above all other variables; repeatable',
      collect,
    )
    .option('-y, --yes', 'ask nothing: what cannot be undone is meant for all hosts of the run')
    .option('--confirm <hosts>', 'instead of -y: it is meant if the run is for exactly so many hosts', positiveInteger)
    .option('--yes-remove-everything', 'uninstall: besides -y or --confirm')
    .option('--reason <text>', "why; goes into the report and the hosts' journals", oneLine)
    .option('--ignore-preflight-errors <checks>', 'errors of these checks are warnings: a,b or all', commaList)
    .option('--fail-on-warnings', 'preflight fails on warnings, too')
    .option('--allow-start <name>', 'this unit or machine may start along with machines.target; repeatable', collect)
    .option('--use-operator-link', "install: into the link that an operator made of the agent's root")
    .option('--force-ssh-install', 'install: also on a host that is made from an image')
    .option('--allow-host-root-downgrade', "upgrade, rollback: also to a release older than the host's root")
    .addOption(
      new Option('--stop-at <state>', 'migrate: link is the half from which hosts can go back').choices([
        'link',
        'moved',
      ]),
    )
    .option('--allow-interface <name>', 'reset, uninstall: this network interface may go; repeatable', collect)
    .option('--without-agent-reset', 'reset, uninstall: only what drover knows by name goes')
    .option('--detailed-exitcode', 'with --check: exit 6 where something would change')
    .option('--timeout <duration>', "the most that one step's changes may take on a host: 90s, 10m, 1h30m", duration)
    .option('--upload-forks <hosts>', 'hosts that big files are sent to at a time', positiveInteger, 5)
    .option('--upload-limit <rate>', 'the most that is sent of them in a second to all hosts together: 500k, 10M', rate)
    .option('--stall-after <seconds>', 'tell of a host that has been silent for this long', positiveInteger, 30)
    .option('--runs-dir <dir>', 'where journals and reports are kept', './.drover/runs')
  outputOption(logOptions(run), ['text', 'json'])
  run.action(actWhole(async (whole, playbook, options) => (await import('./run.ts')).run(whole, playbook, options)))

  const confirm = program
    .command('confirm')
    .description('keep what an armed rollback guards: it is disarmed, whichever run armed it')
  recordedOptions(connectionOptions(inventoryOptions(confirm))).addHelpText('after', examples.confirm)
  confirm.action(actWhole(async (whole, options) => (await import('./rollback.ts')).confirm(whole, options)))

  const rollback = program
    .command('rollback')
    .description('undo what an armed rollback guards: it is fired at once, and waited for')
    .option('--now', 'required: the rollback that is armed; to go back from a confirmed agent: drover run rollback')
  recordedOptions(connectionOptions(inventoryOptions(rollback))).addHelpText('after', examples.rollback)
  rollback.action(actWhole(async (whole, options) => (await import('./rollback.ts')).rollback(whole, options)))

  const status = program.command('status').description('read what state hosts are in; changes nothing')
  connectionOptions(inventoryOptions(status))
    .option(
      '--where <key=value>',
      'only hosts whose column is so: verdict=stuck, os=ubuntu*, fix=a,b; repeatable',
      collect,
    )
    .option('--exit-code', 'exit 2 where a host is not healthy, 4 where hosts are only unreachable')
  outputOption(logOptions(status), ['table', 'names', 'json']).addHelpText('after', examples.status)
  status.action(actWhole(async (whole, options) => (await import('./status.ts')).status(whole, options)))

  const bundle = program
    .command('collect')
    .description('gather logs, units, layout and state of hosts into a redacted archive each; changes nothing there')
  connectionOptions(inventoryOptions(bundle))
    .option('--out <dir>', 'where the archives go (default: a new directory under ./.drover/collect)')
    .addOption(sinceOption())
  outputOption(logOptions(bundle), ['text', 'json']).addHelpText('after', examples.collect)
  bundle.action(actWhole(async (whole, options) => (await import('./collect.ts')).collect(whole, options)))

  const keys = program.command('keys').description('the host keys of the fleet').addHelpText('after', examples.keys)
  const scan = keys
    .command('scan')
    .description('show the keys that hosts have beside what known_hosts says; nobody logs in but to jump hosts')
  connectionOptions(inventoryOptions(scan))
    .option('--write', 'write the new ones into known_hosts, once they have been confirmed')
    .option('-y, --yes', 'with --write: they have been confirmed')
  outputOption(logOptions(scan), ['table', 'json'])
  scan.action(actWhole(async (whole, options) => (await import('./keys.ts')).keysScan(whole, options)))

  const ignition = program
    .command('ignition')
    .description('render what Azure Container Linux hosts are made with: Butane and Ignition; touches no host')
  provisionOptions(inventoryOptions(ignition))
    .option('--merge <file>', 'your own Ignition, merged into it')
    .addHelpText('after', examples.ignition)
  ignition.action(act(async (options) => (await import('./ignition.ts')).ignition(context, options)))

  const cloudInit = program
    .command('cloud-init')
    .description('render the same as user-data for cloud-init on the RHEL family and Ubuntu; touches no host')
  provisionOptions(inventoryOptions(cloudInit)).addHelpText('after', examples.cloudInit)
  cloudInit.action(act(async (options) => (await import('./cloud-init.ts')).cloudInit(context, options)))

  const inventory = program
    .command('inventory')
    .description('show and check what an inventory says')
    .addHelpText('after', examples.inventory)
  const listed = (name: 'list' | 'graph' | 'check', description: string): Command =>
    outputOption(inventoryOptions(inventory.command(name).description(description)), ['text', 'json']).action(
      act(async (options) => (await import('./inventory.ts')).inventory(context, name, options)),
    )
  listed('list', 'hosts, and how each is reached')
    .option('--resolved', 'with what ssh_config fills in')
    .addOption(sshConfigOption())
  listed('graph', 'groups and their hosts as a tree')
  listed('check', 'nothing but whether it can be used')

  const tasks = program
    .command('tasks')
    .argument('[name]', 'one task with its parameters')
    .description('what a step of a playbook can ask for')
  tasks.action(actWhole(async (whole, name) => (await import('./tasks.ts')).tasks(whole, name)))
  const playbooks = program.command('playbooks').description('the playbooks that come with drover')
  playbooks.action(actWhole(async (whole) => (await import('./playbooks.ts')).playbooks(whole)))
  return program
}
