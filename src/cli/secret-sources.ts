import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { SecretSources } from '../inventory/secret-reader.ts'
import type { CliContext } from './context.ts'

const programMs = 60_000
/** Secrets of drover's own, which are no business of the program. */
const ours = /^DROVER_.*(?:PASSWORD|PASSPHRASE)$/

const programBytes = 1024 * 1024

/** Where secrets of inventory, playbook and command line may come from on this workstation. */
export const secretSources = ({ env, cwd }: Pick<CliContext, 'env' | 'cwd'>): SecretSources => ({
  env,
  readFile: readFileSync,
  runProgram: ([program = '', ...args]) =>
    // Its standard error is the operator's: a password store asks for its own passphrase there.
    execFileSync(program, args, {
      cwd,
      env: Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name))),
      timeout: programMs,
      maxBuffer: programBytes,
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
})
