import { isIPv6 } from 'node:net'
import type { Problem } from './names.ts'
import { nameProblem } from './names.ts'
import type { FaultList, Located } from './positions.ts'
import { faultAt, showPosition } from './positions.ts'
import { countNames, expandNames, hostLimit, parseRanges } from './ranges.ts'

/** The host names that one entry stands for; what cannot be a name is left out, with a fault. */
export const entryNames = ({ value, at }: Located<string>, list: FaultList): string[] => {
  const expanded = expand(value)
  if (!Array.isArray(expanded)) {
    list.add(faultAt(at, expanded.message, expanded.remedy))
    return []
  }
  return expanded.filter((name) => {
    const problem = hostNameProblem(name)
    if (problem !== undefined) list.add(faultAt(at, problem.message, problem.remedy), `name ${showPosition(at)}`)
    return problem === undefined
  })
}

const expand = (text: string): string[] | Problem => {
  // A long way round for a common slip: a bracketed IPv6 address is a bad name, not a bad range.
  if (!text.includes('[') || isIPv6(text.replace(/^\[(.*)\]$/, '$1'))) return [text]
  const ranges = parseRanges(text)
  if ('problem' in ranges) return ranges.problem
  const count = countNames(ranges.parts)
  if (count <= hostLimit) return expandNames(ranges.parts)
  return { message: `This range is more than ${hostLimit} hosts.`, remedy: 'Write a smaller range.' }
}

const hostNameProblem = (name: string): Problem | undefined =>
  name === 'all' || name === 'ungrouped'
    ? { message: `${name} is the name of a group that drover makes.`, remedy: 'Give the host another name.' }
    : nameProblem('host name', name)
