import { readFileSync } from 'node:fs'
import { DroverError, InputError } from '../errors.ts'
import { selectHosts } from '../inventory/patterns.ts'
import { parseExtraVars } from '../playbook/extra-vars.ts'
import type { BootstrapScript } from '../provision/bootstrap-script.ts'
import type { Provisioned } from '../provision/host-files.ts'
import { layout } from '../provision/layout.ts'
import type { Merged } from '../provision/merge.ts'
import type { CliContext } from './context.ts'
import { createFaults } from './faults.ts'
import type { LogOptions } from './log.ts'
import { createProvisionFaults, type ProvisionFaults } from './provision-faults.ts'
import { type ProvisionFiles, provisionFiles } from './provision-files.ts'
import { type HostInputs, readInputs } from './provision-inputs.ts'
import { warningsOf } from './provision-warnings.ts'
import { refuseUnused } from './run-options.ts'
import { type InventoryOptions, readSources } from './sources.ts'

export interface ProvisionOptions extends InventoryOptions, LogOptions {
  readonly extraVars?: readonly string[]
  readonly out: string
  readonly bootstrapScript?: string
  readonly bootstrapScriptSha256?: string
  readonly sshAuthorizedKey?: readonly string[]
  readonly merge?: string
  readonly force?: true
  readonly output: 'text' | 'json'
}

export interface ProvisionedHost {
  readonly name: string
  readonly script: BootstrapScript
  readonly provisioned: Provisioned
}

export interface ProvisionRequest {
  readonly hosts: readonly ProvisionedHost[]
  readonly warnings: readonly string[]
}

interface Verb {
  readonly name: string
  readonly isImage: boolean
}

/** Everything that hosts are provisioned with, from this machine alone; all that is wrong with it is thrown at once. */
export const prepareProvision = async (
  context: CliContext,
  options: ProvisionOptions,
  { name, isImage }: Verb,
): Promise<ProvisionRequest> => {
  const { cwd } = context
  const faults = createFaults()
  const files = provisionFiles(context)
  const sources = await faults.attempt(() => readSources(context, options))
  const hosts = sources && (await faults.attempt(() => selectHosts(sources.inventory, options.limit ?? 'all', { cwd })))
  const extraVars = await faults.attempt(() => parseExtraVars(options.extraVars ?? [], { cwd, readFile: readFileSync }))
  const user = { name, uses: ['agent', 'provision'].map((variable) => `\${${variable}}`) }
  if (sources && extraVars) await faults.attempt(() => refuseUnused(options, user, sources.inventory))
  await faults.attempt(() => refuseHalfScript(options))
  const merge = await faults.attempt(() => (options.merge === undefined ? null : files.merge(options.merge)))
  const ofHosts = createProvisionFaults()
  const inputs = hosts && extraVars ? readInputs(context, hosts, extraVars, ofHosts) : []
  const made = inputs.flatMap((each) => provisioned(each, options, { files, merge: merge ?? null, faults: ofHosts }))
  await faults.attempt(() => ofHosts.throwAny())
  faults.throwAny()
  const keyless = made.filter((host) => host.provisioned.authorizedKeys.length === 0).map((host) => host.name)
  return { hosts: made, warnings: warningsOf({ inputs, keyless, merge: merge ?? null, isImage }) }
}

interface Means {
  readonly files: ProvisionFiles
  readonly merge: Merged | null
  readonly faults: ProvisionFaults
}

const provisioned = (
  { host, provision, source }: HostInputs,
  options: ProvisionOptions,
  { files, merge, faults }: Means,
): ProvisionedHost[] => {
  const attempt = <T>(place: string, read: () => T): T | undefined => {
    try {
      return read()
    } catch (thrown) {
      if (!(thrown instanceof DroverError)) throw thrown
      const { message, remedy } = thrown
      const all = thrown instanceof InputError ? thrown.faults : [{ file: place, message, remedy }]
      for (const fault of all)
        faults.add({ place: fault.file, message: fault.message, remedy: fault.remedy }, host.name)
      return undefined
    }
  }
  const { bootstrapScript, bootstrapScriptSha256, sshAuthorizedKey = [] } = options
  const script = attempt('bootstrap script', () =>
    bootstrapScript === undefined
      ? files.script(provision.bootstrap_script, provision.bootstrap_script_sha256)
      : files.script(bootstrapScript, bootstrapScriptSha256),
  )
  const certificate = attempt('provision.sp_client_certificate', () =>
    provision.sp_client_certificate === undefined ? null : files.certificate(provision.sp_client_certificate),
  )
  const authorizedKeys = attempt('SSH keys', () =>
    files.keys([...(provision.ssh_authorized_keys ?? []), ...sshAuthorizedKey]),
  )
  if (script === undefined || certificate === undefined || authorizedKeys === undefined) return []
  const made = attempt('bootstrap.env', () =>
    layout({ provision, source, script, certificate, authorizedKeys, merge: merge?.text ?? null }),
  )
  return made === undefined ? [] : [{ name: host.name, script, provisioned: made }]
}

const refuseHalfScript = ({ bootstrapScript, bootstrapScriptSha256 }: ProvisionOptions): void => {
  if ((bootstrapScript === undefined) === (bootstrapScriptSha256 === undefined)) return
  throw new DroverError({
    code: 'usage',
    message: 'A script is embedded only if it is the one that was meant, so it comes with its digest.',
    remedy:
      'Give both --bootstrap-script and --bootstrap-script-sha256, or neither: then the script is that of drover.',
  })
}
