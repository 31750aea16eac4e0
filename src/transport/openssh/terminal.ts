import type { PseudoTtyOptions } from 'ssh2'
import { string, uint32 } from './mux-wire.ts'

// Of RFC 4254, section 8, those that make a terminal raw.
const opcodes: Readonly<Record<string, number>> = {
  ICRNL: 36,
  IXON: 38,
  ISIG: 50,
  ICANON: 51,
  ECHO: 53,
  IEXTEN: 59,
  OPOST: 70,
  ONLCR: 72,
}
const endOfModes = 0

/** The body of a `pty-req`. */
export const terminalRequest = ({ term = 'dumb', modes = {} }: PseudoTtyOptions): Buffer => {
  const encoded = Object.entries(modes).map(([name, value]) => {
    const opcode = opcodes[name]
    if (opcode === undefined) throw new Error(`the terminal mode ${name} is not known here`)
    return Buffer.concat([Buffer.from([opcode]), uint32(value ?? 0)])
  })
  const size = [80, 24, 640, 480].map(uint32)
  return Buffer.concat([string(term), ...size, string(Buffer.concat([...encoded, Buffer.from([endOfModes])]))])
}
