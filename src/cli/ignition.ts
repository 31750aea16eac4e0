import { butane } from '../provision/butane.ts'
import { ignition as ignitionOf } from '../provision/ignition.ts'
import type { CliContext } from './context.ts'
import type { ProvisionOptions } from './provision.ts'
import { provision } from './provision-show.ts'

/** `drover ignition`: what Azure Container Linux is made with, for each host. */
export const ignition = (context: CliContext, options: ProvisionOptions): Promise<number> =>
  provision(context, options, {
    name: 'drover ignition',
    isImage: true,
    formats: [
      { kind: 'Butane config', ending: '.bu', render: butane },
      { kind: 'Ignition 3.4.0', ending: '.ign', render: ignitionOf },
    ],
  })
