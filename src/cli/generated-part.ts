/** A page written by hand may hold parts that are generated, each between two comments with its name. */
export const withGeneratedPart = (page: string, name: string, text: string): string => {
  const [begin, end] = marksOf(name)
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from === -1 || to < from) throw new Error(`the page lacks the lines "${begin}" and "${end}" around its part`)
  return `${page.slice(0, from + begin.length)}\n\n${text.trim()}\n\n${page.slice(to)}`
}

const marksOf = (name: string): [string, string] => [
  `<!-- generated: ${name}; changes up to its end are lost -->`,
  `<!-- end of ${name} -->`,
]
