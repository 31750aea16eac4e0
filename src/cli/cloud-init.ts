import { cloudConfig } from '../provision/cloud-config.ts'
import type { CliContext } from './context.ts'
import type { ProvisionOptions } from './provision.ts'
import { provision } from './provision-show.ts'

/** `drover cloud-init`: user-data for hosts of the RHEL family and Ubuntu. */
export const cloudInit = (context: CliContext, options: ProvisionOptions): Promise<number> =>
  provision(context, options, {
    name: 'drover cloud-init',
    isImage: false,
    formats: [{ kind: 'user-data', ending: '.user-data', render: cloudConfig }],
  })
