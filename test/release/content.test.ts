import { describe, expect, test } from 'vitest'
import { contentName, notTheProgram } from '../../src/release/content.ts'
import { program, tar } from './made.ts'

const bytes = (...given: readonly number[]): Buffer => Buffer.from(given)

describe('a program', () => {
  test.each([
    ['amd64', 62, 2],
    ['amd64', 62, 3],
    ['arm64', 183, 2],
    ['arm64', 183, 3],
  ] as const)('for %s has machine %i and may be of type %i', (architecture, machine, type) => {
    expect(notTheProgram(program({ machine, type }), architecture)).toBeNull()
  })
  test.each([
    ['amd64', program({ machine: 183 }), 'a program for arm64'],
    ['arm64', program({ machine: 62 }), 'a program for amd64'],
    ['amd64', program({ machine: 243 }), 'a program for riscv64'],
    ['amd64', program({ machine: 9999 }), 'a program for another machine (number 9999)'],
    ['amd64', program({ type: 1 }), 'an ELF file that is no program'],
    ['amd64', program({ type: 4 }), 'an ELF file that is no program'],
    ['amd64', program({ bits: 1 }), 'a 32-bit program'],
    ['amd64', program({ order: 2 }), 'a big-endian program'],
    ['amd64', program().subarray(0, 40), 'the beginning of a program, cut off'],
    ['amd64', Buffer.from('#!/bin/sh\n'), 'a script'],
  ] as const)('for %s is not this one: %#', (architecture, head, instead) => {
    expect(notTheProgram(head, architecture)).toBe(instead)
  })
})

test.each([
  [Buffer.alloc(0), 'empty'],
  [Buffer.from('MZ\x90\0'), 'a Windows program'],
  [bytes(0xcf, 0xfa, 0xed, 0xfe), 'a macOS program'],
  [bytes(0x1f, 0x8b, 8), 'a gzip archive'],
  [Buffer.from('PK\x03\x04'), 'a zip archive'],
  [bytes(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0), 'an xz archive'],
  [bytes(0x28, 0xb5, 0x2f, 0xfd), 'a zstd archive'],
  [Buffer.from('BZh9'), 'a bzip2 archive'],
  [Buffer.from('\n <!DOCTYPE html><title>Sign in'), 'an HTML page'],
  [Buffer.from('<HTML>'), 'an HTML page'],
  [Buffer.from('<?xml version="1.0"?><Error><Code>AuthenticationFailed'), 'an XML text'],
  [Buffer.from('{"message": "Not Found"}'), 'a JSON text'],
  [Buffer.from('Not Found\n'), 'a text'],
  [bytes(1, 2, 3), 'something else'],
])('what begins so is named: %#', (head, name) => {
  expect(contentName(head)).toBe(name)
})

test('a tar archive that nobody compressed is named', async () => {
  expect(contentName((await tar({ content: program() })).subarray(0, 512))).toBe('a tar archive that is not compressed')
})
