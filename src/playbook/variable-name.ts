import { quoted } from '../inventory/names.ts'
import { builtinName } from './scope.ts'

/** For variables that drover's user names, in a playbook as by -e. */
export const variableNameFault = (name: string): [message: string, remedy: string] | undefined => {
  if (name === builtinName) return [`${builtinName} is a variable of drover's own.`, 'Choose another name.']
  if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) && name !== '__proto__') return undefined
  return [
    `${quoted(name)} cannot be the name of a variable.`,
    'Use letters, digits, _ and -, beginning with a letter or _.',
  ]
}
