import { Ajv2020 } from 'ajv/dist/2020.js'
import schema from './ignition-3.4.0.schema.json' with { type: 'json' }

const validate = new Ajv2020({ allErrors: true }).compile(schema)

/** Where a configuration is no Ignition 3.4.0. Places and rules, never values: files are in it. */
export const ignitionFaults = (config: unknown): readonly string[] =>
  validate(config)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message = 'is wrong' }) => `${instancePath || '/'} ${message}`)
