import { runInNewContext } from 'node:vm'

type RegexOutcome = { readonly matches: readonly boolean[] } | { readonly problem: 'invalid' | 'too-slow' }

/**
 * Which of the names a user's regular expression matches, from their beginning on, as in Ansible.
 * A separate context is the one place where Node stops a regular expression that would run for ever.
 */
export const matchRegex = (source: string, names: readonly string[], timeoutMs: number): RegexOutcome => {
  try {
    new RegExp(source)
    const anchored = `^(?:${source})`
    const code = 'const regex = new RegExp(anchored); names.map((name) => regex.test(name))'
    return { matches: [...runInNewContext(code, { anchored, names }, { timeout: timeoutMs })] }
  } catch (thrown) {
    return { problem: thrown instanceof SyntaxError ? 'invalid' : 'too-slow' }
  }
}
