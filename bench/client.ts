// The container that a bench runs in: the client and, on every address of its loopback, the hosts. Nothing leaves it.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { docker, execIn, type Output } from '../e2e/lab/docker.ts'
import { ensureImages, type ImageName, imageName } from '../e2e/lab/images.ts'
import { removeLabs } from '../e2e/lab/lab.ts'
import { checkoutId } from '../e2e/lab/state.ts'
import type { Command, Measured } from './measured.ts'
import { node, root } from './place.ts'

/** OpenSSH 9.2 and systemd's tools, and with dnf the Python that the other tools need. */
const usual: ImageName = 'rhel9-like-bare'

export interface Client {
  /** The container's first process, as this machine counts them. */
  readonly pid: number
  /** The public key of the sshd that stands for all hosts. */
  readonly hostKey: string
  measure(command: Command): Promise<Measured>
  /** Runs a script in the container; a failure is an error. */
  must(script: string, args?: readonly string[], stdin?: string): Promise<string>
  close(): Promise<void>
}

export const openClient = async (image: ImageName = usual): Promise<Client> => {
  const label = `bench-${image}`
  await ensureImages([image], { yes: true })
  await removeLabs([`drover.lab=${label}`])
  const engine = await docker()
  const container = await engine.createContainer({
    Image: imageName(image),
    Cmd: ['/bin/sh', join(root, 'bench/inside/start.sh')],
    // `lab down` takes it away if this process is killed.
    Labels: { 'drover.lab': label, 'drover.checkout': checkoutId },
    HostConfig: {
      NetworkMode: 'none',
      Init: true,
      Binds: [`${root}:${root}:ro`],
      Tmpfs: { '/tmp': 'rw,exec,nosuid,nodev,mode=1777' },
    },
  })
  await container.start()
  const { id } = container
  const { State } = await container.inspect()
  const close = () => container.remove({ force: true, v: true })
  const sh = (script: string, args: readonly string[], stdin?: string): Promise<Output> =>
    execIn(id, ['timeout', '600', '/bin/sh', '-c', script, 'bench', ...args], { stdin, timeoutMs: 615_000 })
  const must = async (script: string, args: readonly string[] = [], stdin?: string): Promise<string> => {
    const ran = await sh(script, args, stdin)
    if (ran.code !== 0)
      throw new Error(`in the bench's container, \`${script.slice(0, 200)}\`: ${ran.stderr.slice(-2000)}`)
    return ran.stdout.trim()
  }
  const measure = async (command: Command): Promise<Measured> => {
    const ran = await execIn(id, [node, join(root, 'bench/inside/measure.ts')], {
      stdin: JSON.stringify(command),
      timeoutMs: command.timeoutMs + 15_000,
    })
    if (ran.code !== 0) throw new Error(`the measuring itself failed: ${ran.stderr.slice(-2000)}`)
    return JSON.parse(ran.stdout) as Measured
  }
  try {
    for (
      let tries = 0;
      (await sh('ssh-keyscan -T 1 127.0.0.1 2>&1 | grep -q ssh-ed25519', [])).code !== 0;
      tries += 1
    ) {
      if (tries > 50)
        throw new Error(
          `the bench's sshd does not answer: ${(await container.logs({ stdout: true, stderr: true })).toString()}`,
        )
      await sleep(100)
    }
    return { pid: State.Pid, hostKey: await must('cat /bench/host_key.pub'), measure, must, close }
  } catch (error) {
    await close()
    throw error
  }
}
