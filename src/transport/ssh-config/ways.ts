import { DroverError } from '../../errors.ts'
import type { Host } from '../../inventory/host.ts'
import { type JumpSpec, parseProxyJump } from './proxy-jump.ts'
import type { SshSettings } from './settings.ts'

const hopLimit = 8

export interface Filled {
  readonly host: Host
  readonly settings: SshSettings
}

export interface WayOptions {
  fill(host: Host): Promise<Filled>
  /** The hop as a host, before ssh_config has its say. */
  hopOf(spec: JumpSpec): Host
}

/**
 * The whole way to a host. Only the first hop is reached from here, so only its own ProxyJump comes before it; how the
 * others are reached is said by the list they stand in.
 */
export const wayTo = async ({ host, settings }: Filled, { fill, hopOf }: WayOptions): Promise<readonly Host[]> => {
  const hopsIn = (of: Filled): Promise<readonly Filled[]> =>
    Promise.all(parseProxyJump(of.settings.proxyJump, of.host.name).map((spec) => fill(hopOf(spec))))
  const isGiven = (one: Host): boolean => one.given?.includes('jump') ?? false

  let way =
    isGiven(host) || host.jump.length > 0 ? await Promise.all(host.jump.map(fill)) : await hopsIn({ host, settings })
  for (let first = way[0]; first !== undefined; ) {
    refuseEndless(
      host,
      way.map((hop) => hop.host),
    )
    const before: readonly Filled[] = isGiven(first.host) ? [] : await hopsIn(first)
    way = [...before, ...way]
    first = before[0]
  }
  return way.map((hop) => hop.host)
}

const refuseEndless = (host: Host, way: readonly Host[]): void => {
  const places = [host, ...way].map(({ address, port }) => `${address} port ${port}`)
  const again = places.find((place, index) => places.indexOf(place) !== index)
  const fault = (message: string, remedy: string): DroverError =>
    new DroverError({ code: 'ssh-config-invalid', message, remedy })
  if (again !== undefined) {
    throw fault(
      `By ssh_config the way to ${host.name} passes ${again} twice.`,
      'Give the hop a Host block of its own with `ProxyJump none`, above the one that gives it a way.',
    )
  }
  if (way.length > hopLimit) {
    throw fault(`By ssh_config the way to ${host.name} has more than ${hopLimit} hops.`, 'Shorten it.')
  }
}
