import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DroverError } from '../../src/errors.ts'
import { listPlaybooks } from '../../src/playbook/find.ts'
import { loadPlaybook } from '../../src/playbook/load.ts'
import { tasks } from './world.ts'

describe('finding a playbook', () => {
  let directory = ''
  const text = 'name: x\nsteps: [{ task: anything }]'
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'drover-'))
    mkdirSync(join(directory, 'shipped'))
    mkdirSync(join(directory, 'here'))
    for (const name of [
      'shipped/remediate.yaml',
      'shipped/install.yaml',
      'here/remediate.yaml',
      'here/other.yml',
      'shipped/README.md',
    ]) {
      writeFileSync(join(directory, name), text)
    }
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  const find = (name: string) =>
    loadPlaybook(name, { shippedDir: join(directory, 'shipped'), cwd: join(directory, 'here'), tasks })
  const failure = (name: string): DroverError => {
    try {
      find(name)
    } catch (thrown) {
      if (thrown instanceof DroverError) return thrown
    }
    throw new Error('found')
  }

  test('the list is that of the directory', () => {
    expect(listPlaybooks(join(directory, 'shipped'))).toEqual(['install', 'remediate'])
    expect(listPlaybooks(join(directory, 'nowhere'))).toEqual([])
  })

  test.each([
    ['remediate', 'shipped/remediate.yaml'],
    ['remediate.yaml', 'remediate.yaml'],
    ['./remediate.yaml', './remediate.yaml'],
    ['other.yml', 'other.yml'],
  ])('%s is %s', (name, place) => {
    expect(find(name).file).toBe(place.startsWith('shipped') ? join(directory, place) : place)
  })

  test('a slip in a name is answered with the near name and the list', () => {
    expect(failure('remediat')).toMatchObject({
      code: 'playbook-not-found',
      message: 'No playbook is called "remediat".',
      remedy: 'Did you mean remediate? The playbooks are: install, remediate.',
    })
    expect(failure('zzz').remedy).toBe(
      'For a file write a path, such as ./zzz.yaml. The playbooks are: install, remediate.',
    )
  })

  test.each(['./missing.yaml', '.', './', 'a\0/b', '..', '../shipped/remediate'])('%j is not there', (name) => {
    expect(failure(name)).toMatchObject({ code: 'playbook-not-found' })
  })
})
