/** Tests one character, or stands for any number of them. */
type Token = 'star' | ((character: string) => boolean)

export const isGlob = (text: string): boolean => /[*?[]/.test(text)

/** `*`, `?`, `[abc]`, `[a-f]` and `[!abc]`. Not by way of a regular expression: many stars must not cost more than few. */
export const globMatcher = (glob: string): ((text: string) => boolean) => {
  const tokens = tokenize(glob)
  return (text) => matches(tokens, text)
}

const tokenize = (glob: string): Token[] => {
  const tokens: Token[] = []
  for (let index = 0; index < glob.length; index++) {
    const character = glob.charAt(index)
    const close = character === '[' ? glob.indexOf(']', index + 2) : -1
    if (character === '*') tokens.push('star')
    else if (character === '?') tokens.push(() => true)
    else if (close === -1) tokens.push((found) => found === character)
    else {
      tokens.push(classOf(glob.slice(index + 1, close)))
      index = close
    }
  }
  return tokens
}

const classOf = (inside: string): ((character: string) => boolean) => {
  const negated = inside.startsWith('!')
  const members = negated ? inside.slice(1) : inside
  const isMember = (character: string): boolean => {
    for (let index = 0; index < members.length; index++) {
      const from = members.charAt(index)
      const isSpan = members.charAt(index + 1) === '-' && index + 2 < members.length
      const to = isSpan ? members.charAt(index + 2) : from
      if (character >= from && character <= to) return true
      if (isSpan) index += 2
    }
    return false
  }
  return (character) => isMember(character) !== negated
}

/** Only the last star ever needs another try, so the work is at most text times glob. */
const matches = (tokens: readonly Token[], text: string): boolean => {
  let token = 0
  let position = 0
  let star: { token: number; position: number } | undefined
  while (position < text.length) {
    const current = tokens[token]
    if (current === 'star') star = { token: token++, position }
    else if (current?.(text.charAt(position)) === true) {
      token++
      position++
    } else if (star !== undefined) {
      star.position++
      position = star.position
      token = star.token + 1
    } else return false
  }
  return tokens.slice(token).every((rest) => rest === 'star')
}
