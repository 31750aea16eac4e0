import { expect, test } from 'vitest'
import { readAnswer } from '../../src/facts/answer.ts'
import { armedOf } from '../../src/facts/armed.ts'
import { questionFor } from '../../src/facts/question.ts'
import { answerOf, base64, type RecordedHost } from './answers.ts'

const read = (host: RecordedHost) => readAnswer(questionFor([]), answerOf(questionFor([]), host))

const releases: [name: string, release: string, family: string][] = [
  ['RHEL 9', 'NAME="Red Hat Enterprise Linux"\nVERSION_ID="9.4"\nID="rhel"\nID_LIKE="fedora"\n', 'rhel'],
  ['RHEL 10', 'ID="rhel"\nID_LIKE="centos fedora"\nVERSION_ID="10.0"\n', 'rhel'],
  ['Rocky 9', 'ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.5"\n', 'rhel'],
  ['Rocky 10', 'ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="10.0"\n', 'rhel'],
  ['Alma 9', 'ID="almalinux"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.4"\n', 'rhel'],
  ['Alma 10', "ID='almalinux'\nID_LIKE='rhel centos fedora'\nVERSION_ID='10.0'\n", 'rhel'],
  ['Ubuntu 22.04', 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="22.04"\n', 'ubuntu'],
  ['Ubuntu 24.04', 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n', 'ubuntu'],
  ['a child of Ubuntu', 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', 'ubuntu'],
  ['Debian', 'ID=debian\nVERSION_ID="12"\n', 'debian'],
  ['ACL with its variant', 'ID=azurelinux\nVARIANT_ID=azurecontainerlinux\nVERSION_ID="3.0"\n', 'acl'],
  ['ACL without, by what it is like', 'ID=azurelinux\nID_LIKE="flatcar fedora"\n', 'acl'],
  ['Flatcar', 'ID=flatcar\nID_LIKE=coreos\n', 'acl'],
  ['Azure Linux', 'ID=azurelinux\nVERSION_ID="3.0"\n', 'other'],
  ['nothing', '', 'other'],
]
test.each(releases)('%s', (_, release, family) => expect(read({ release }).os.family).toBe(family))

test('what a host says of itself', () => {
  expect(
    read({
      release: 'ID=ubuntu\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n# x\n=\nodd\n',
      os: { selinux: '1', id: 'abc', uid: '1000' },
    }).os,
  ).toMatchObject({
    prettyName: 'Ubuntu 24.04.1 LTS',
    systemdVersion: 252,
    virtualization: 'docker',
    systemState: 'running',
    architecture: 'x86_64',
    selinux: 'enforcing',
    machineId: 'abc',
    uid: 1000,
    clockS: 1_000_000,
    isSystemd: true,
  })
})

test.each([
  ['Version=255.4-1ubuntu8.4', 255],
  ['Version=systemd 249 (249.11)', 249],
  ['Version=257~rc1', 257],
  ['', 0],
])('the manager answers %j: version %d', (manager, version) =>
  expect(read({ manager }).os.systemdVersion).toBe(version),
)

test("drover's own marks", () => {
  expect(
    read({
      self: [
        `lease 7 ${base64('r1 me@here since 2026-11-30T00:00:00Z\n')}`,
        `applying ${base64('drover run r1 by me@here\n')}`,
        `owed ${base64('daemon-reload')}`,
        `owed ${base64('restart:a.service')}`,
        `rollback armed ${base64('r0 you@there 2026\n')}`,
      ],
    }).self,
  ).toEqual({
    lease: { run: 'r1', owner: 'me@here', since: '2026-11-30T00:00:00Z', ageS: 7 },
    applying: 'drover run r1 by me@here',
    owed: ['daemon-reload', 'restart:a.service'],
    rollback: { phase: 'armed', text: 'r0 you@there 2026' },
    leftovers: [],
  })
  expect(read({}).self).toEqual({ lease: null, applying: null, owed: [], rollback: null, leftovers: [] })
})

test('leftovers are whole names, whatever is in them', () => {
  const question = questionFor([{ kind: 'path', path: '/etc/x' }])
  const leftovers = ['/etc/.drover.r\n1.0', '/etc/.drover.r.1']
  expect(readAnswer(question, answerOf(question, { leftovers })).self.leftovers).toEqual(leftovers)
})

test.each<[words: string, isProved: boolean]>([
  [' proved', true],
  ['', false],
])('an armed rollback with the words "%s" after its line', (words, isProved) => {
  const { self } = read({ self: [`rollback armed ${base64('r0 you@there 2026 9 c upgrade\n')}${words}`] })
  expect(armedOf(self)).toMatchObject({ run: 'r0', what: 'upgrade', isProved })
})
