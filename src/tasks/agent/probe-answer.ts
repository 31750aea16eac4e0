/** The `key=value` lines that the probes print. */
export const keyValues = (stdout: string): ReadonlyMap<string, string> =>
  new Map(
    stdout
      .split('\n')
      .map((line): [string, string] => [
        line.slice(0, Math.max(0, line.indexOf('='))),
        line.slice(line.indexOf('=') + 1),
      ])
      .filter(([key]) => key !== ''),
  )
