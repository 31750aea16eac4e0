import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Change, Condition } from '../../src/changes/change.ts'
import { DroverError } from '../../src/errors.ts'
import type { LabHost } from '../lab/host.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { type CoreHost, openCore } from '../support/core.ts'
import { current, makeToy, restart, slots, toy } from '../support/toy.ts'

/** What a host waits for to call something healthy, and what it says where that does not come. */

let lab: Lab
let host: LabHost
let core: CoreHost

beforeAll(async () => {
  lab = await openLab('health', { yes: true })
  host = await lab.boot({ name: 'health', image: 'rhel9-like' })
  await makeToy(host)
  core = await openCore(lab, host)
  // As much of a web server as there has to be: the path is the status.
  await host.put(
    '/srv/web.sh',
    'read -r _ path _; while read -r line && [ ${#line} -gt 1 ]; do :; done; path=${path#/}; printf "HTTP/1.0 %s x\\r\\n\\r\\n" "${path%%\\?*}"\n',
  )
  await host.must(`cd /etc/systemd/system && printf '[Socket]\nListenStream=8080\nAccept=yes\n' >web.socket
printf '[Service]\nStandardInput=socket\nExecStart=/bin/sh /srv/web.sh\n' >web@.service
systemctl daemon-reload && systemctl start web.socket`)
})

afterAll(async () => {
  await core?.close()
  await lab?.close()
})

/** Null: it came. Otherwise what the host says. */
const awaited = async (condition: Condition, withinMs = 0, stableMs = 0): Promise<string | null> => {
  const state = await core.inspect([{ kind: 'unit', name: toy }])
  try {
    await core.apply(state, [{ kind: 'await', condition, withinMs, stableMs }])
    return null
  } catch (thrown) {
    if (!(thrown instanceof DroverError) || thrown.code !== 'change-failed') throw thrown
    return thrown.detail ?? ''
  }
}

describe('a unit is running from a file', () => {
  const from = (exe: string): Condition => ({ unit: toy, is: 'running-from', exe })

  test('where its process runs that very file, and stays', async () => {
    expect(await awaited(from(slots.blue), 10_000, 1000)).toBeNull()
  })

  test('and not from the link to it, nor from another one', async () => {
    expect(await awaited(from(current))).toContain(`${toy} runs ${slots.blue}`)
    expect(await awaited(from(slots.green), 300)).toContain('ActiveState=active')
  })

  test('and not from a file that has been replaced since it started', async () => {
    await host.must(`cp -p ${slots.blue} /srv/toy/.new && mv -f /srv/toy/.new ${slots.blue}`)
    expect(await awaited(from(slots.blue))).toContain(`${toy} runs ${slots.blue} (deleted)`)
    await core.apply(await core.inspect([{ kind: 'unit', name: toy }]), [restart])
    expect(await awaited(from(slots.blue), 10_000)).toBeNull()
  })

  test('and once it has failed nobody waits for it any longer', async () => {
    await host.must('systemctl kill -s KILL toy.service')
    const words = await awaited(from(slots.blue), 120_000)
    expect(words).toContain('ActiveState=failed')
    await host.must('systemctl restart toy.service')
  }, 60_000)
})

describe('a command is succeeding', () => {
  const says = (script: string, line?: string, timeoutS = 20): Condition => ({
    command: ['sh', '-c', script],
    is: 'succeeding',
    timeoutS,
    ...(line !== undefined && { line }),
  })

  test.each([
    ['exit code 0', says('true'), null],
    ['another one', says('echo why >&2; exit 3'), 'why\nit ended with exit code 3'],
    ['the line among others', says('echo a; echo "v1 [x]"; echo b', 'v1 [x]'), null],
    ['part of the line', says('echo "v1 [x] "', 'v1 [x]'), 'v1 [x] \nit does not print the line v1 [x]'],
    ['the line and a failure', says('echo v1; exit 1', 'v1'), 'v1\nit ended with exit code 1'],
    ['no end', says('echo begun; sleep 60', undefined, 1), 'begun\nit did not end within 1 s'],
    ['an end, but a child that goes on', says('sleep 600 & echo v1', 'v1'), null],
  ])('or not: %s', async (_, condition, words) => {
    expect(await awaited(condition)).toBe(words)
  })

  test('at last, after it was asked again', async () => {
    expect(await awaited(says('echo x >>/run/asked; [ "$(wc -l </run/asked)" -ge 3 ]'), 30_000)).toBeNull()
    expect(await host.must('wc -l </run/asked')).toBe('3')
  })

  test('only once without a time, and only its last words are shown', async () => {
    expect(await awaited(says('echo x >>/run/once; false'))).toBe('it ended with exit code 1')
    expect(await host.must('wc -l </run/once')).toBe('1')
    expect(await awaited(says('echo x >>/run/often; wc -l </run/often; false'), 1000)).toMatch(
      /^\d+\nit ended with exit code 1$/,
    )
  })
})

describe('a URL is answering', () => {
  const at = (url: string): Condition => ({ url, is: 'answering', timeoutS: 5 })

  test.each(['200', '204', '301'])('with status %s', async (status) => {
    expect(await awaited(at(`http://127.0.0.1:8080/${status}`))).toBeNull()
  })

  test.each(['400', '404', '503'])('and not with status %s, and no token is told of', async (status) => {
    const words = await awaited(at(`http://127.0.0.1:8080/${status}?token=s3cret`))
    expect(words).toMatch(/^curl ended with exit code 22: /)
    expect(words).not.toContain('s3cret')
  })

  test('and not where nobody listens, nor of other kinds than HTTP', async () => {
    expect(await awaited(at('http://127.0.0.1:8081/200'))).toMatch(/^curl ended with exit code 7: /)
    expect(await awaited(at('file:///etc/hostname'))).toMatch(/^curl ended with exit code 1/)
  })

  test('and where there is no curl the host says so at once', async () => {
    await host.must('mv /usr/bin/curl /usr/bin/curl.away')
    try {
      expect(await awaited(at('http://127.0.0.1:8080/200'), 120_000)).toBe('the host has no curl, so it cannot ask')
    } finally {
      await host.must('mv /usr/bin/curl.away /usr/bin/curl')
    }
  })
})

describe('nothing is at a path', () => {
  const mark = '/srv/toy/mark'
  const gone: Condition = { path: mark, is: 'gone' }
  const waits = async (orGoOn: boolean, withinMs: number): Promise<void> => {
    const wait: Change = { kind: 'await', condition: gone, withinMs, stableMs: 0, ...(orGoOn && { orGoOn: true }) }
    await core.apply(await core.inspect([{ kind: 'unit', name: toy }]), [
      wait,
      { kind: 'link', path: '/srv/toy/waited', target: 'on' },
    ])
  }
  const made = (): Promise<string> => host.must('readlink /srv/toy/waited || echo none; rm -f /srv/toy/waited')

  test('is waited for, a dangling link counting as something', async () => {
    await host.must(
      'ln -sfn nowhere "$1"; systemd-run --quiet --on-active=1s --timer-property=AccuracySec=50ms rm "$1"',
      [mark],
    )
    await waits(false, 20_000)
    expect(await made()).toBe('on')
  })
  test('in vain: the change has failed, and nothing after it is done', async () => {
    await host.must('touch "$1"', [mark])
    await expect(waits(false, 300)).rejects.toMatchObject({ code: 'change-failed' })
    expect(await made()).toBe('none')
  })
  test('in vain, where what follows copes with both: it goes on', async () => {
    await waits(true, 300)
    expect(await made()).toBe('on')
    await host.must('rm "$1"', [mark])
  })
})
