// A container that is a whole host: systemd as PID 1, rebooting for real, at a fixed address.
import { statfsSync } from 'node:fs'
import { GenericContainer } from 'testcontainers'
import { docker } from './docker.ts'
import type { LabNetwork } from './network.ts'

export interface ContainerSpec {
  image: string
  /** The container's name on the engine. */
  name: string
  hostname: string
  network: LabNetwork
  address: string
  labels: Record<string, string>
}

/** Start it and return its id. */
export async function startContainer(spec: ContainerSpec): Promise<string> {
  const container = new HostContainer(spec.image)
    .withName(spec.name)
    .withHostname(spec.hostname)
    .withLabels(spec.labels)
    // /run is noexec, as on the hosts this stands in for; /tmp is not.
    .withTmpFs({ '/run': 'rw,noexec,nosuid,nodev,mode=755', '/tmp': 'rw,exec,nosuid,nodev,mode=1777' })
    .withAddressOn(spec.network.name, spec.address)
    .withRestartAlways()
  if (cgroupVersion() === 2) container.withPrivilegedMode().withPrivateCgroups()
  else container.asUnprivilegedHost()
  return (await container.start()).getId()
}

/** testcontainers has no words for these settings; its protected options are passed to the engine as they are. */
class HostContainer extends GenericContainer {
  withAddressOn(network: string, address: string): this {
    this.networkMode = network
    this.createOpts.NetworkingConfig = { EndpointsConfig: { [network]: { IPAMConfig: { IPv4Address: address } } } }
    return this
  }

  /** `systemctl reboot` ends PID 1; the engine then starts the container again, which is the reboot. */
  withRestartAlways(): this {
    this.hostConfig.RestartPolicy = { Name: 'always', MaximumRetryCount: 0 }
    return this
  }

  withPrivateCgroups(): this {
    Object.assign(this.hostConfig, { CgroupnsMode: 'private' }) // not in dockerode's types
    return this
  }

  /**
   * For machines with cgroup v1 and the unified hierarchy beside it. Not privileged: that fails where this machine itself lacks
   * SYS_RESOURCE. Dropped as well is what would reach through to this machine: loading kernel modules and setting its clock.
   */
  asUnprivilegedHost(): this {
    return (
      this.withAddedCapabilities('ALL')
        .withDroppedCapabilities('SYS_RESOURCE', 'SYS_MODULE', 'SYS_TIME', 'SYS_RAWIO')
        .withSecurityOpt('seccomp=unconfined', 'apparmor=unconfined')
        // Without it a real nspawn worker inside does not start.
        .withBindMounts([{ source: '/sys/fs/cgroup/unified', target: '/sys/fs/cgroup', mode: 'rw' }])
    )
  }
}

const CGROUP2_SUPER_MAGIC = 0x63677270
function cgroupVersion(): 1 | 2 {
  return statfsSync('/sys/fs/cgroup').type === CGROUP2_SUPER_MAGIC ? 2 : 1
}

export async function removeContainer(id: string): Promise<void> {
  await (await docker()).getContainer(id).remove({ force: true, v: true })
}
