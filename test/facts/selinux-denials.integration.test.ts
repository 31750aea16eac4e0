import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

/** The lab's kernel has no SELinux, so what an audit log of one says is recorded, and `ausearch` is a program that prints it. */

const script = fileURLToPath(new URL('../../src/facts/probes/selinux-denials.sh', import.meta.url))

const denied = (more: string): string => `type=AVC msg=audit(1764500000.101:812): avc:  denied  { ${more} permissive=0`
const resetFailed =
  `type=USER_AVC msg=audit(1764500000.205:813): pid=1 uid=0 auid=4294967295 ses=4294967295 subj=system_u:system_r:kernel_t:s0 ` +
  `msg='avc:  denied  { reload } for auid=0 uid=0 gid=0 path="/etc/systemd/system/aks-flex-node-agent.service" cmdline="systemctl reset-failed aks-flex-node-agent.service" ` +
  `scontext=system_u:system_r:unconfined_service_t:s0 tcontext=system_u:object_r:systemd_unit_file_t:s0 tclass=service'`

const log = [
  denied('execute } for pid=901 comm="aks-flex-node" path="/opt/unbounded/agent/bin/aks-flex-node" tclass=file'),
  resetFailed,
  resetFailed,
  // Others' denials, and what names the agent without being one.
  denied('read } for pid=77 comm="chronyd" path="/etc/chrony.keys" tclass=file'),
  'type=SERVICE_START msg=audit(1764500001.000:814): pid=1 uid=0 msg=\'unit=aks-flex-node-agent comm="systemd" res=success\'',
  'type=AVC msg=audit(1764500002.000:815): avc:  granted  { execute } for pid=902 comm="aks-flex-node" tclass=file',
]

const answerTo = (lines: readonly string[], code = 0): string[] => {
  const folder = mkdtempSync(join(tmpdir(), 'drover-audit-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'log'), lines.map((line) => `${line}\n`).join(''))
  const ausearch = join(folder, 'ausearch')
  writeFileSync(ausearch, `#!/bin/sh\ncat "${join(folder, 'log')}"\nexit ${code}\n`)
  chmodSync(ausearch, 0o755)
  // Where there is no such log the journal is read instead.
  mkdirSync('/var/log/audit', { recursive: true })
  writeFileSync('/var/log/audit/audit.log', 'x\n')
  onTestFinished(() => rmSync('/var/log/audit/audit.log', { force: true }))
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH ?? ''}` }
  return execFileSync('/bin/sh', [script], { env, encoding: 'utf8' }).trim().split('\n')
}

test('11.45 denials that name the agent are counted, and those of reset-failed apart', () => {
  expect(answerTo(log)).toEqual(['source=audit', 'denials=1', 'reset_failed=2'])
})

test('11.45 a log without any', () => {
  expect(answerTo([])).toEqual(['source=audit', 'denials=0', 'reset_failed=0'])
})

test('11.45 a log that could not be read to its end says so', () => {
  expect(answerTo(log, 124)).toEqual(['source=audit', 'incomplete=1', 'denials=1', 'reset_failed=2'])
})
