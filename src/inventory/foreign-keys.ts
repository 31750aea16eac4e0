import type { YamlPath } from './strict-yaml.ts'

const ansibleKeys: ReadonlyMap<string, string> = new Map([
  ['ansible_host', 'address'],
  ['ansible_port', 'port'],
  ['ansible_user', 'user'],
  ['ansible_ssh_private_key_file', 'identity_file'],
  ['ansible_private_key_file', 'identity_file'],
  ['ansible_become', 'become'],
  ['ansible_ssh_common_args', 'jump'],
])

/** A better word than the nearest name for keys that people bring along from Ansible or put at the wrong level. */
export const foreignKeyRemedy = (path: YamlPath, key: string): string | undefined => {
  const own = ansibleKeys.get(key)
  if (own !== undefined) return `In drover's YAML this is ${own}:.`
  if (path.length === 0 && key === 'all') return "drover's YAML has hosts: and groups: at the top, without all:."
  if (key === 'address') return 'An address belongs to one host: write it there.'
  if (key === 'groups' && path.length > 0)
    return 'Name the host in the group, or the group among the children of the other.'
  return undefined
}
