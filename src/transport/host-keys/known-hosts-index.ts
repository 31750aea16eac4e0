import { knownHostsName, matchesHosts } from './host-pattern.ts'
import type { KnownHostsLine } from './known-hosts-line.ts'
import type { HostLines } from './known-hosts-lookup.ts'

/** Finds the lines about a host without going through all of them for each: ten thousand hosts have ten thousand lines. */
export class KnownHostsIndex {
  readonly #lines: KnownHostsLine[] = []
  /** Positions of lines under each name that they spell out. */
  readonly #named = new Map<string, number[]>()
  /** Positions of lines with patterns or hashed names, which have to be tried. */
  readonly #open: number[] = []

  constructor(lines: readonly KnownHostsLine[]) {
    for (const line of lines) this.add(line)
  }

  add(line: KnownHostsLine): void {
    const position = this.#lines.push(line) - 1
    if (/[*?!|]/.test(line.hosts)) {
      this.#open.push(position)
      return
    }
    for (const name of new Set(line.hosts.toLowerCase().split(','))) {
      const positions = this.#named.get(name)
      if (positions === undefined) this.#named.set(name, [position])
      else positions.push(position)
    }
  }

  about(address: string, port: number): HostLines {
    return {
      named: this.#under(knownHostsName(address, port)),
      withoutPort: port === 22 ? [] : this.#under(knownHostsName(address, 22)),
    }
  }

  /** In the order of the file, whichever way they were found. */
  #under(name: string): KnownHostsLine[] {
    const isMatch = (position: number) => matchesHosts(this.#lines[position]?.hosts ?? '', name)
    const positions = [...(this.#named.get(name) ?? []), ...this.#open.filter(isMatch)]
    return positions.sort((a, b) => a - b).flatMap((position) => this.#lines[position] ?? [])
  }
}
