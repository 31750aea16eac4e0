import { provisionParam } from '../provision/inputs.ts'
import { parametersOf } from './parameters.ts'

/** For docs/azure-container-linux.md: the keys of the variable `provision`. */
export const provisionMarkdown = (): string =>
  [
    '| key | value | what it is |',
    '|---|---|---|',
    ...parametersOf(provisionParam).map(({ name, type, description }) => `| \`${name}\` | ${type} | ${description} |`),
  ].join('\n')
