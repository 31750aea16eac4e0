import { expect, test } from 'vitest'
import { LEGACY, layoutEntry, machineBinary, ROOT } from '../../../src/tasks/agent/paths.ts'
import { laidOut } from '../deployed.ts'
import { resultOf } from '../general/planning.ts'
import type { HostLiteral } from '../host-state.ts'
import { upgradeOn } from './upgrading.ts'

/** What the host writes there of its own. */
const own = 65_536

const withRoom = (state: 'MOVED' | 'LEGACY-PLAIN', freeBytes: number, paths: HostLiteral['paths'] = {}): HostLiteral =>
  laidOut(state, { paths, mounts: { '/var/lib/drover': { freeBytes } } })

test('no room is asked for what is nowhere kept: a slot is filled before anything is armed, a worker gets its binary anew', () => {
  const big = { file: 'o'.repeat(1000), mode: 0o755 }
  const host = withRoom('MOVED', own, { [layoutEntry(ROOT, 'green')]: big, [machineBinary('kube1')]: big })
  const planned = resultOf(upgradeOn(host))
  for (const path of [layoutEntry(ROOT, 'green'), machineBinary('kube1')])
    expect(planned).toContainEqual(expect.stringContaining(path))
})

test('room is asked for what is replaced behind the rollback, once for each file, and no byte more', () => {
  const plain = `${LEGACY}/bin/aks-flex-node`
  const refused = (host: HostLiteral): string => {
    const planned = upgradeOn(host)
    return 'error' in planned ? planned.error.message : ''
  }
  const needed = Number(/^(\d+) bytes are to be put there/.exec(refused(withRoom('LEGACY-PLAIN', own)))?.[1])
  // The plain binary goes, and a link of its name comes.
  const longer = { [plain]: { file: 'old'.repeat(100), mode: 0o755 } }
  expect(refused(withRoom('LEGACY-PLAIN', own, longer))).toContain(`${needed + 297} bytes`)
  expect(resultOf(upgradeOn(withRoom('LEGACY-PLAIN', needed)))).toContainEqual(`remove ${plain}`)
  expect(resultOf(upgradeOn(withRoom('LEGACY-PLAIN', needed - 1)))).toEqual({ blocked: 'no-space' })
})
