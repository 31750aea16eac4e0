// Compiles the PAM module that asks for a code. Each host has the libpam that it is loaded into.
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { installMissing, NEEDS } from '../install.ts'
import { mustRun } from '../processes.ts'
import { labSources, recipeDigest, stateFolder } from '../state.ts'

const source = join(labSources, 'pam', 'code.c')

/** The file of the compiled module; compiled anew when the source has changed. */
export async function codeModule(options: { yes?: boolean } = {}): Promise<string> {
  const binary = join(stateFolder('pam'), `pam_code-${recipeDigest([source])}.so`)
  if (existsSync(binary)) return binary
  await installMissing([NEEDS.agent], options.yes ?? false)
  const unfinished = `${binary}.${process.pid}`
  const flags = ['-std=gnu11', '-Os', '-s', '-shared', '-fPIC', '-Wall', '-Wextra', '-Werror']
  await mustRun('cc', [...flags, '-o', unfinished, source], { timeoutMs: 60_000 })
  renameSync(unfinished, binary) // whole or not at all: another process may be looking for it
  return binary
}
