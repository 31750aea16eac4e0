import { z } from 'zod'
import { isCleanPath } from '../../facts/tree.ts'
import { isUnitName } from '../../facts/unit.ts'

/** Forms of single values in config.json (domain.md 9.6). Each says what it must be; none repeats what it is. */
const form = (wanted: string, fits: (text: string) => boolean) =>
  z.string(must('text')).refine(fits, { error: () => `must be ${wanted}` })

/** The default message of zod may show the value, which may be a secret. */
export const must = (kind: string) => ({ error: () => `must be ${kind}` })

export const text = form('a text that is not empty', (value) => value.trim() !== '')
export const anyText = z.string(must('text'))
export const flag = z.boolean(must('true or false'))
export const whole = (from: number, to: number) => {
  const wanted = must(`a whole number from ${from} to ${to}`)
  return z.int(wanted).min(from, wanted).max(to, wanted)
}
export const oneOf = (...words: readonly string[]) =>
  form(`one of ${words.join(', ')}`, (value) => words.includes(value))

const guid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const cluster = new RegExp(
  `^/subscriptions/${guid}/resourceGroups/[^/\\s]+/providers/Microsoft\\.ContainerService/managedClusters/[^/\\s]+$`,
  'i',
)
export const clusterId = form(
  '/subscriptions/GUID/resourceGroups/NAME/providers/Microsoft.ContainerService/managedClusters/NAME',
  (value) => cluster.test(value),
)

export const bootstrapToken = form('a bootstrap token: 6 letters or digits, a dot, 16 letters or digits', (value) =>
  /^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(value),
)

export const managementEndpoint = form('an https URL without port and path', (value) =>
  /^https:\/\/[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/?$/i.test(value),
)

export const nodeName = form(
  'a name as Kubernetes takes it: lowercase letters, digits, - and ., at most 253',
  (value) =>
    value.length <= 253 && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/.test(value),
)

/** What Go's time.ParseDuration takes, save for a sign. */
export const duration = form('a duration such as 10m or 1h30m', (value) =>
  /^(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(value),
)

export const absolutePath = form('an absolute path without ., .. or empty parts', isCleanPath)

/** Goes into a line of systemd-nspawn's configuration, where these separate. */
const isBindable = (value: string): boolean => isCleanPath(value) && value !== '/' && !/[\s:\p{Cc}]/u.test(value)
export const boundPath = form('an absolute path without ., .., empty parts, whitespace or a colon', isBindable)
export const device = form(
  'a path below /dev without ., .. or empty parts',
  (value) => isBindable(value) && value.startsWith('/dev/'),
)

export const hostUnit = form('the full name of a systemd unit', isUnitName)

const isIpv4 = (value: string): boolean =>
  /^(?:\d{1,3}\.){3}\d{1,3}$/.test(value) &&
  value.split('.').every((part) => Number(part) <= 255 && String(Number(part)) === part)
export const ipv4 = form('an IPv4 address', isIpv4)
export const ipv4Network = form('an IPv4 network such as 10.93.0.0/16', (value) => {
  const [address = '', bits = '', ...more] = value.split('/')
  return more.length === 0 && isIpv4(address) && /^(?:[0-9]|[12][0-9]|3[0-2])$/.test(bits)
})

export const base64 = form('base64', (value) => {
  const bare = value.replaceAll(/[\r\n]/g, '')
  return bare !== '' && bare.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(bare)
})
