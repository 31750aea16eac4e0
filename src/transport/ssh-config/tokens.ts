/** What a %-token stands for; a token that is not here is left as it is. */
export type Tokens = Readonly<Record<string, string>>

export const expandTokens = (text: string, tokens: Tokens): string =>
  text.replaceAll(/%(.)/g, (whole, letter: string) => (letter === '%' ? '%' : (tokens[letter] ?? whole)))

/** `${NAME}`; one that is not set is left as it is. */
export const expandEnvironment = (text: string, env: Readonly<Record<string, string | undefined>>): string =>
  text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name: string) => env[name] ?? whole)

export const expandHome = (path: string, home: string): string =>
  path === '~' || path.startsWith('~/') ? home + path.slice(1) : path
