import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { drover } from '../support/drover.ts'
import { file, writePlaybook } from '../support/playbook.ts'
import { hostsFile } from '../support/sshd.ts'

/** Story: hosts whose disks, tools or clock are not as they should be. The work is done, or the true cause is named. */

let lab: Lab
let host: LabHost

beforeAll(async () => {
  lab = await openLab('transport-disks', { yes: true })
  host = await lab.boot({ name: 'odd', image: 'rhel9-like', agent: 'old', worker: 'sleep' })
})

afterAll(() => lab?.close())

/** A small file system over a directory, with what is to be done to it once it is there. */
const over = (directory: string, options: string, then = ''): readonly [make: string, undo: string] => [
  `mkdir -p ${directory} && mount -t tmpfs -o ${options} lab ${directory}${then}`,
  `umount -l ${directory}`,
]
const full = (directory: string): string => `; head -c 1M /dev/zero >${directory}/filling 2>/dev/null || :`
const hidden = (tool: string): readonly [string, string] => [
  `mv $(command -v ${tool}) /root/hidden-${tool}`,
  `mv /root/hidden-${tool} /usr/bin/${tool}`,
]

/** An autofs whose daemon answers nobody: whoever looks below it waits for ever, as on an NFS whose server is gone. */
const deadMount = `[ -p /root/pipe ] || mkfifo /root/pipe
cat >/root/dead.sh <<'END'
exec 7<>/root/pipe
group=$(ps -o pgid= -p "$$" | tr -d ' ')
mount -i -t autofs -o "fd=7,pgrp=$group,minproto=5,maxproto=5,indirect" server:/export /srv/odd
sleep 600
END
systemd-run --quiet --collect --unit=dead-server /bin/sh /root/dead.sh
i=0; until grep -q ' /srv/odd ' /proc/self/mountinfo || [ $i -ge 50 ]; do sleep 0.1; i=$((i + 1)); done
timeout -s KILL 1 stat /srv/odd/file 2>/dev/null; [ $? -eq 137 ]`

interface Trouble {
  readonly make: readonly [make: string, undo: string]
  /** Of the run that writes /srv/odd/file; nothing: it changes the host. */
  readonly refused?: { readonly outcome?: string; readonly code: string; readonly says: RegExp }
}

const troubles: Readonly<Record<string, Trouble>> = {
  'a full /tmp': { make: over('/tmp', 'size=64k', full('/tmp')) },
  'a read-only /tmp': { make: over('/tmp', 'ro') },
  'a noexec /tmp': { make: over('/tmp', 'noexec') },
  'a full /var/lib': { make: over('/var/lib/drover', 'size=64k', full('/var/lib/drover')) },
  'a read-only /var/lib': { make: over('/var/lib/drover', 'ro') },
  'a full /var/tmp': { make: over('/var/tmp', 'size=64k', full('/var/tmp')) },
  'a noexec /run/drover': { make: over('/run/drover', 'noexec,mode=0700') },
  'a full /run/drover': {
    make: over('/run/drover', 'size=64k,mode=0700', full('/run/drover')),
    refused: { code: 'apply-refused', says: /No space left on device|is full/ },
  },
  'a read-only /run/drover': {
    make: over('/run/drover', 'ro'),
    refused: { code: 'apply-refused', says: /Read-only file system/ },
  },
  'a full target': {
    make: over('/srv/odd', 'size=16k', full('/srv/odd')),
    refused: { outcome: 'blocked', code: 'precondition-unmet', says: /has 0 free/ },
  },
  'no inode in the target': {
    make: over('/srv/odd', 'size=1m,nr_inodes=2', '; : >/srv/odd/only'),
    refused: { code: 'no-space', says: /No space left on device/ },
  },
  'a read-only target': {
    make: over('/srv/odd', 'ro'),
    refused: { outcome: 'blocked', code: 'precondition-unmet', says: /is read-only/ },
  },
  'a dead network mount': {
    make: [deadMount, 'umount -l /srv/odd; systemctl stop dead-server'],
    refused: { outcome: 'blocked', code: 'inspect-failed', says: /network|remote/ },
  },
  'no flock': { make: hidden('flock'), refused: { code: 'apply-refused', says: /flock/ } },
  'no sha256sum': {
    make: hidden('sha256sum'),
    refused: { code: 'precondition-unmet', says: /has no sha256sum/ },
  },
  'no journalctl': { make: hidden('journalctl') },
  'a clock that is ten years ahead': {
    make: [
      'printf "#!/bin/sh\\nexec /usr/bin/date -d \\"\\$(/usr/bin/date +%%F\\\\ %%T) 3650 days\\" \\"\\$@\\"\\n" >/usr/local/sbin/date; chmod 755 /usr/local/sbin/date',
      'rm -f /usr/local/sbin/date',
    ],
  },
}

test.each(Object.entries(troubles))('%s', async (name, { make: [make, undo], refused }) => {
  await host.must(`rm -rf /run/drover /srv/odd && mkdir /srv/odd; ${make}`)
  try {
    for (const transport of ['ssh2', 'openssh']) {
      const path = `/srv/odd/file-${transport}`
      const playbook = writePlaybook(lab, 'odd', [file('write', path, 'whole\n'.repeat(4000))])
      const inventory = hostsFile(lab, 'odd', { odd: host.inventoryEntry }, { transport })
      const ran = await drover(lab, ['run', playbook], { inventory })
      const { outcome, error } = ran.host('odd')
      const said = `${name}, ${transport}: ${error?.message}\n${error?.detail}`
      if (refused === undefined) {
        expect([outcome, ran.code], said).toEqual(['changed', 0])
        expect(await host.must('wc -c <"$1"', [path])).toBe('24000')
      } else {
        expect([outcome, error?.code], said).toEqual([refused.outcome ?? 'failed', refused.code])
        expect(said).toMatch(refused.says)
        expect(error?.remedy).not.toBe('')
        expect(await host.must('ls -A /srv/odd | grep -v -x -e filling -e only || :')).toBe('')
      }
    }
  } finally {
    await host.must(undo)
  }
})
