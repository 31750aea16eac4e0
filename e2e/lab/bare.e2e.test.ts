// The bare RHEL 9 stand-in: the package is missing, and a real dnf brings it. A file of its own, since its image takes longest to build.
import { afterAll, expect, test } from 'vitest'
import { type Lab, openLab } from './lab.ts'

let lab: Lab | undefined
afterAll(() => lab?.close())

test('lacks systemd-container until dnf installs it, and then has a disabled machines.target', async () => {
  lab = await openLab('bare-itself')
  const host = await lab.boot({ name: 'bare', image: 'rhel9-like-bare' })
  const look = 'rpm -q systemd-container >/dev/null; echo $?; systemctl show -p UnitFileState --value machines.target'
  expect(await host.must(look)).toBe('1')
  expect(
    await host.must(
      'rpm -q curl nftables util-linux >/dev/null; echo $?; command -v systemd-nspawn machinectl; systemctl is-system-running',
    ),
  ).toBe('0\nrunning')
  await host.must('dnf -y -q install systemd-container')
  expect(await host.must(look)).toBe('0\ndisabled')
  expect(await host.must('command -v systemd-nspawn')).toBe('/usr/bin/systemd-nspawn')
}, 600_000)
