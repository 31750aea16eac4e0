// The lab's inventory in drover's own format.
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { stringify } from 'yaml'
import type { ImageName } from './images.ts'
import type { Lab } from './lab.ts'

const GROUPS: Record<ImageName, string> = {
  'rhel9-like': 'rhel',
  'rhel9-like-bare': 'rhel',
  'ubuntu-like': 'ubuntu',
  'ubuntu-like-shells': 'ubuntu',
  'acl-like': 'acl',
  'acl-like-no-variant': 'acl',
}

/** Write the inventory of every host of the lab and return its path. Keys are named relative to the file, so the folder can be moved. */
export function writeInventory(lab: Lab): string {
  const file = inventoryFile(lab)
  // Whole or not at all: another drover of the same story may be reading it.
  writeFileSync(`${file}.new`, inventoryText(lab), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return file
}

export function removeInventory(lab: Lab): void {
  rmSync(inventoryFile(lab), { force: true })
}

function inventoryFile(lab: Lab): string {
  return join(lab.folder, 'inventory.yaml')
}

function inventoryText(lab: Lab): string {
  const groups: Record<string, { hosts: Record<string, unknown> }> = {}
  for (const host of lab.hosts) {
    groups[GROUPS[host.spec.image]] ??= { hosts: {} }
    ;(groups[GROUPS[host.spec.image]] as { hosts: Record<string, unknown> }).hosts[host.name] = host.inventoryEntry
  }
  const document = {
    known_hosts: `./${basename(lab.knownHostsFile)}`,
    identity_file: `./${basename(lab.key.file)}`,
    groups,
  }
  return `# the lab's inventory, written by \`npm run lab -- up\`\n${stringify(document)}`
}
