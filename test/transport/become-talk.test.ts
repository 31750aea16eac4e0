import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DroverError } from '../../src/errors.ts'
import { Secret } from '../../src/secret.ts'
import { BecomeTalk } from '../../src/transport/become/become-talk.ts'
import { PasswordGate } from '../../src/transport/login/password-gate.ts'

const question = '[drover%ask1,deploy]'
const ready = '\x1eR ask1\n'
const script = [Buffer.from('the script'), Buffer.from('the payload')]

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** What sudo says in turn, and all that was written and done after each. */
const talk = async (...said: (string | Buffer | number)[]) => {
  const did: string[] = []
  let error: DroverError | undefined
  const it = new BecomeTalk({
    host: { name: 'h', user: 'deploy' },
    password: new Secret('Pa55'),
    askToken: 'ask1',
    stdin: script,
    refused: (by) => new DroverError({ code: 'become-failed', message: `refused by ${by}`, remedy: 'x' }),
    failure: (which, text) => new DroverError({ code: 'become-failed', message: `${which}: ${text}`, remedy: 'x' }),
  })
  const partner = it.start({
    write: async (bytes) => void did.push(Buffer.from(bytes).toString()),
    end: () => void did.push('end'),
    fail: (thrown) => {
      error = thrown
    },
  })
  for (const each of said) {
    if (typeof each === 'number') await vi.advanceTimersByTimeAsync(each)
    else partner.stderr?.(Buffer.from(each))
    await vi.advanceTimersByTimeAsync(0)
  }
  it.stop()
  expect(vi.getTimerCount()).toBe(0)
  return { did, message: error?.message, answeredFor: it.answeredFor }
}

const sent = ['the script', 'the payload', 'end']

describe('who asks as told is answered, once', () => {
  test.each([
    ['sudo', ['motd\n', question, ready], ['Pa55\n', ...sent]],
    ['sudo after its lecture', [`We trust you\n\n${question}`, ready], ['Pa55\n', ...sent]],
    ['sudo-rs', ['[sudo: [drover%%ask1,%p]] Password: ', ready], ['Pa55\n', ...sent]],
    ['sudo-rs that reads the escapes', ['[sudo: [drover%ask1,deploy]] Password: ', ready], ['Pa55\n', ...sent]],
    ['nobody', [ready], sent],
    ['nobody, after a warning', [`sudo: unable to resolve host\n${ready}`], sent],
    ['a slow one', [60_000, question, 60_000, ready], ['Pa55\n', ...sent]],
  ])('%s', async (_, said, did) => {
    expect(await talk(...said)).toMatchObject({ did, message: undefined })
  })

  test('whose password it is, is what sudo says', async () => {
    expect(await talk('[drover%ask1,root]')).toMatchObject({ answeredFor: 'root' })
    expect(await talk('[drover%ask1,jürgen]')).toMatchObject({ answeredFor: 'jürgen' })
    expect(await talk('[sudo: [drover%%ask1,%p]] Password: ')).toMatchObject({ answeredFor: 'deploy' })
    expect(await talk(ready)).toMatchObject({ answeredFor: undefined })
  })

  test('cut anywhere, the same is answered', async () => {
    const texts = [`x\n${question}${ready}`, `[sudo: [drover%%ask1,%p]] Password: ${ready}`, `\n${ready}`]
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...texts), fc.array(fc.nat(40), { maxLength: 6 }), async (text, cuts) => {
        const bytes = Buffer.from(text)
        const marks = [...cuts, bytes.indexOf(0x1e), 0, bytes.length].sort((a, b) => a - b)
        const pieces = marks.slice(1).map((mark, index) => bytes.subarray(marks[index], mark))
        expect((await talk(...pieces)).did).toEqual(text.includes('drover') ? ['Pa55\n', ...sent] : sent)
      }),
    )
  })
})

describe('nothing is written', () => {
  test.each([
    ['what is not the question to its last letter', ['[drover%ask2,deploy]', '[drover%ask1,deploy', ']x']],
    ['the question within other text', [`${question} `]],
    ['the command line in a trace', ["+ exec env LC_ALL=C 'SUDO_PROMPT=[drover%%ask1,%p]' sudo -S"]],
    ['the ready mark in a trace', ['printf "\\036R ask1\\012"\n']],
    ['a code that sudo-rs wants', ['[sudo: [drover%%ask1,%p]] Verification code: ']],
    ['a code that a sudo-rs wants which reads the escapes', ['[sudo: [drover%ask1,deploy]', '] Verification code: ']],
    ['the plain question for the password', ['Password: ', '[sudo] password for deploy: ']],
  ])('to %s', async (_, said) => {
    expect((await talk(...said)).did).toEqual([])
  })
})

describe('the end of the talk', () => {
  test('a second question after a refusal is a wrong password', async () => {
    const { did, message } = await talk('[drover%ask1,root]', 'Sorry, try again.\n', '[drover%ask1,root]', ready)
    expect(did).toEqual(['Pa55\n'])
    expect(message).toBe('again: Sorry, try again.\n')
  })

  test('a second question without a refusal wants something else', async () => {
    const { did, message } = await talk(question, question)
    expect(did).toEqual(['Pa55\n'])
    expect(message).toBe('again: ')
  })

  test('another question gets silence, and ends after twenty seconds', async () => {
    expect(await talk('Verification code: ', 19_000)).toEqual({ did: [], message: undefined, answeredFor: undefined })
    expect(await talk('Verification code: ', 20_000)).toMatchObject({ did: [], message: 'other: Verification code: ' })
    expect(await talk(question, 'Verification code: ', 20_000)).toMatchObject({
      did: ['Pa55\n'],
      message: 'other: Verification code: ',
    })
  })

  test('a line that has ended is no question: its writer may be busy', async () => {
    expect(await talk('Approve the login on your phone.\n', 60_000, ready)).toMatchObject({ did: sent })
  })

  test('a flood before the question is not kept', async () => {
    const flood = Array.from({ length: 200 }, () => Buffer.alloc(32_768, 'x'))
    expect((await talk(...flood, `\n${question}`, ready)).did).toEqual(['Pa55\n', ...sent])
  })
})

describe('a password that many hosts share', () => {
  const hostTalk = (gate: PasswordGate, name: string) => {
    const did: string[] = []
    const it = new BecomeTalk({
      ...{ host: { name, user: 'deploy' }, password: new Secret('Pa55'), gate, askToken: 'ask1', stdin: script },
      refused: (by) => new DroverError({ code: 'become-failed', message: `refused by ${by}`, remedy: 'x' }),
      failure: (which) => new DroverError({ code: 'become-failed', message: which, remedy: 'x' }),
    })
    const partner = it.start({
      write: async (bytes) => void did.push(Buffer.from(bytes).toString()),
      end: () => void did.push('end'),
      fail: ({ message }) => void did.push(message),
    })
    const hear = async (text: string): Promise<void> => {
      partner.stderr?.(Buffer.from(text))
      await vi.advanceTimersByTimeAsync(0)
    }
    return { it, did, hear }
  }

  test('is tried by one host, and by the others once it was right there', async () => {
    const gate = new PasswordGate()
    const [one, two] = [hostTalk(gate, 'a'), hostTalk(gate, 'b')]
    await one.hear(question)
    await two.hear(question)
    expect([one.did, two.did]).toEqual([['Pa55\n'], []])
    await one.hear(ready)
    expect([one.did, two.did]).toEqual([['Pa55\n', ...sent], ['Pa55\n']])
    one.it.stop()
    two.it.stop()
  })

  test('that two hosts have refused is sent to no third one', async () => {
    const gate = new PasswordGate()
    for (const name of ['a', 'b']) {
      const wrong = hostTalk(gate, name)
      await wrong.hear(question)
      wrong.it.stop('wrong')
    }
    const third = hostTalk(gate, 'c')
    await third.hear(question)
    expect(third.did).toEqual(['refused by a,b'])
  })

  test('is let go by a host that ends before its turn comes', async () => {
    const gate = new PasswordGate()
    const [one, two, three] = [hostTalk(gate, 'a'), hostTalk(gate, 'b'), hostTalk(gate, 'c')]
    for (const each of [one, two, three]) await each.hear(question)
    two.it.stop()
    one.it.stop()
    await vi.advanceTimersByTimeAsync(0)
    expect([two.did, three.did]).toEqual([[], ['Pa55\n']])
    three.it.stop()
  })
})
