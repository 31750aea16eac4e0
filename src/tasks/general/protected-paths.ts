import { ancestry } from '../../facts/tree.ts'
import { agentUnitFile, configDirectory, hostRoots, libraryDirectory } from '../agent/paths.ts'

/** Nothing in these is a playbook's to remove: a worker's root file system, the kernel's own trees, drover's marks. */
const trees = ['/dev', '/proc', '/sys', '/var/lib/machines', '/var/lib/drover', '/run/drover']

/** Directories of every Linux host right under the root. */
const topLevel =
  'bin boot dev etc home lib lib32 lib64 libx32 lost+found media mnt opt proc root run sbin srv sys tmp usr var'
    .split(' ')
    .map((name) => `/${name}`)

/** Without these a host does not boot, cannot be reached, or is no node any more. What lies in them may go by name. */
const pillars = [
  ...topLevel,
  '/etc/fstab',
  '/etc/group',
  '/etc/gshadow',
  '/etc/kubernetes',
  '/etc/machine-id',
  '/etc/netplan',
  '/etc/NetworkManager',
  '/etc/pam.d',
  '/etc/passwd',
  '/etc/security',
  '/etc/shadow',
  '/etc/ssh/sshd_config',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/sysconfig',
  '/etc/systemd/network',
  '/etc/systemd/system/multi-user.target.wants',
  '/etc/systemd/system/machines.target.wants',
  '/opt/unbounded',
  '/root/.ssh/authorized_keys',
  '/run/lock',
  '/run/systemd/system',
  '/usr/bin',
  '/usr/lib/modules',
  '/usr/lib/systemd/system',
  '/usr/lib64',
  '/usr/libexec',
  '/usr/local/bin',
  '/usr/local/lib/systemd/system',
  '/usr/local/sbin',
  '/usr/sbin',
  '/usr/share',
  '/var/cache',
  '/var/lib/containerd',
  '/var/lib/dpkg',
  '/var/lib/kubelet',
  '/var/lib/rpm',
  '/var/lib/systemd',
  '/var/log/journal',
  '/var/tmp',
  agentUnitFile,
  configDirectory,
  ...hostRoots.map(libraryDirectory),
]

const untouchable = new Set([...trees, ...pillars].flatMap(ancestry))

/** Why this path is nothing to remove; null where it may go. By its text alone: links are for the plan to follow. */
export const protection = (path: string): string | null => {
  if (untouchable.has(path)) return 'a host needs it, or something in it'
  const tree = trees.find((directory) => path.startsWith(`${directory}/`))
  if (tree !== undefined) return `it lies in ${tree}, where drover removes nothing`
  return /^\/home\/[^/]+$/.test(path) ? 'it is the home of a user' : null
}
