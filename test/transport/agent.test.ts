import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listAgentKeys, signByAgent } from '../../src/transport/login/agent.ts'
import { wireString } from '../../src/transport/login/wire.ts'

/** An ssh-agent that takes every connection and answers so, or not at all. */
const agentThat = async (answer?: Buffer | null) => {
  const directory = mkdtempSync(join(tmpdir(), 'drover-agent-'))
  const path = join(directory, 'agent')
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined).resume())
    if (answer === null) socket.end()
    else if (answer !== undefined) for (const byte of answer) socket.write(Buffer.from([byte]))
  })
  server.listen(path)
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
    rmSync(directory, { recursive: true })
  })
  return { path, server }
}

test('an agent that does not answer in time is left', async () => {
  const { path, server } = await agentThat()
  const connected = once(server, 'connection')
  const listing = expect(listAgentKeys(path, 100)).rejects.toThrow('it does not answer')
  const [socket] = (await connected) as [Socket]
  await Promise.all([listing, once(socket, 'end')])
})

test('an agent that does not sign keeps no process alive', async () => {
  const { path, server } = await agentThat()
  const agentModule = new URL('../../src/transport/login/agent.ts', import.meta.url).href
  const program = `
    import { signByAgent } from ${JSON.stringify(agentModule)}
    const socket = ${JSON.stringify(path)}
    signByAgent({ socket, blob: Buffer.from('key') }, Buffer.from('x')).then(() => undefined)`
  const child = execFile(process.execPath, ['--input-type=module', '--eval', program])
  onTestFinished(() => void child.kill('SIGKILL'))
  let asked: Socket | undefined
  server.once('connection', (socket) => {
    asked = socket
  })
  expect(await once(child, 'exit')).toEqual([0, null])
  // It has asked for a signature, and has not waited for it.
  expect(asked?.bytesRead).toBeGreaterThan(0)
})

const list = (...fields: readonly (string | Buffer)[]): Buffer =>
  wireString(Buffer.concat([Buffer.from([12, 0, 0, 0, 1]), ...fields.map(wireString)]))

test('its keys, in however many pieces they come', async () => {
  const blob = wireString('ssh-ed25519')
  const { path } = await agentThat(list(blob, 'mine'))
  expect(await listAgentKeys(path, 5_000)).toEqual([{ socket: path, type: 'ssh-ed25519', blob, comment: 'mine' }])
})

test.each([
  ['that is no agent', Buffer.from('HTTP/1.1 400 Bad Request\r\n'), /something else/],
  ['that refuses', wireString(Buffer.from([5])), /shows no keys/],
  ['whose list is cut', wireString(Buffer.from([12, 0, 0, 0, 9, 0])), /damaged/],
  ['whose key is none', list(Buffer.from([0, 0, 9]), 'x'), /damaged/],
  ['that hangs up', null, /closed the connection/],
])('an agent %s is of no use', async (_, answer, message) => {
  const { path } = await agentThat(answer)
  await expect(listAgentKeys(path, 5_000)).rejects.toThrow(message)
})

test('an agent that is not there, and one that will not sign', async () => {
  await expect(listAgentKeys('/nowhere/agent', 5_000)).rejects.toThrow('ENOENT')
  const { path } = await agentThat(wireString(Buffer.from([5])))
  await expect(signByAgent({ socket: path, blob: Buffer.from('x') }, Buffer.from('y'))).rejects.toThrow('does not sign')
})
