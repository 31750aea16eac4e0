import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listAgentKeys } from '../../src/transport/agent.ts'

/** An ssh-agent that takes every connection and never answers. */
const muteAgent = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'drover-agent-'))
  const path = join(directory, 'agent')
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined).resume()))
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
  const { path, server } = await muteAgent()
  const connected = once(server, 'connection')
  const listing = expect(listAgentKeys(path, 100)).rejects.toThrow('it does not answer')
  const [socket] = (await connected) as [Socket]
  await Promise.all([listing, once(socket, 'end')])
})

test('an agent that does not sign keeps no process alive', async () => {
  const { path, server } = await muteAgent()
  const agentModule = new URL('../../src/transport/agent.ts', import.meta.url).href
  const program = `
    import { generateKeyPairSync } from 'node:crypto'
    import ssh2 from 'ssh2'
    import { SingleKeyAgent } from ${JSON.stringify(agentModule)}
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    const key = ssh2.utils.parseKey(privateKey.export({ type: 'sec1', format: 'pem' }))
    new SingleKeyAgent(${JSON.stringify(path)}, key).sign(key, Buffer.from('x'), () => undefined)`
  const child = execFile(process.execPath, ['--input-type=module', '--eval', program])
  onTestFinished(() => void child.kill('SIGKILL'))
  const [[socket], [code]] = await Promise.all([once(server, 'connection'), once(child, 'exit')])
  // It has asked for a signature, and has not waited for it.
  expect([(socket as Socket).bytesRead > 0, code]).toEqual([true, 0])
})
