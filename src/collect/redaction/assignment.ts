/** What stands between a name and its value, also in JSON within JSON and in what was percent-encoded. */
export const assigned =
  /(?:\\{0,8}["']|%(?:25){0,3}22)?[ \t]{0,32}(?:=>|:=|[:=]|%(?:25){0,3}3[ad])[ \t]*(?:%(?:25){0,3}22)?/iy
const given = /[ \t]+/y
const harmless = /(?:true|false|null|none|nil|yes|no|<nil>|""|''|\[secret\]|\[redacted\])(?=[\s,}\])"]|$)/iy

/** Where the value of an option begins that is given without `=`; null: there is none. */
export const givenAt = (text: string, wordAt: number, nameEnd: number): number | null =>
  /--[\w-]*$/.test(text.slice(Math.max(0, wordAt - 64), wordAt)) ? matchEnd(given, text, nameEnd) : null

export const isHarmless = (text: string, at: number): boolean => matchEnd(harmless, text, at) !== null

export const matchEnd = (pattern: RegExp, text: string, at: number): number | null => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : null
}
