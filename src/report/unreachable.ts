/** Stands in the default of a switch over a closed union: a new member does not compile until every fold knows it. */
export const unreachable = (value: never): never => {
  throw new Error(`Unknown member of a closed union: ${JSON.stringify(value)}`)
}
