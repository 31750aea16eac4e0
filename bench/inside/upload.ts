// upload.ts SHIPPED INVENTORY PAYLOAD FOLDER: one file to all hosts of the inventory at once, each into a directory of the
// folder that has its address for a name. Prints how long the slowest hundredth of the event loop's turns took, in milliseconds.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const [shipped = '', inventoryFile = '', payload = '', folder = ''] = process.argv.slice(2)
const part = (name: string): string => join(shipped, 'dist', name)
const { createTransport }: typeof import('../../src/transport/transport.ts') = await import(
  part('transport/transport.js')
)
const { runScript }: typeof import('../../src/transport/script/run-script.ts') = await import(
  part('transport/script/run-script.js')
)
const { probe }: typeof import('../../src/transport/upload/probe.ts') = await import(part('transport/upload/probe.js'))
const { deliver }: typeof import('../../src/transport/upload/deliver.ts') = await import(
  part('transport/upload/deliver.js')
)
const { createUploads }: typeof import('../../src/transport/upload/uploads.ts') = await import(
  part('transport/upload/uploads.js')
)
const { readInventory }: typeof import('../../src/inventory/read.ts') = await import(part('inventory/read.js'))

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const second = 1000
const transport = createTransport({
  deadlines: {
    resolveMs: 10 * second,
    connectMs: 10 * second,
    handshakeMs: 20 * second,
    authMs: 30 * second,
    channelMs: 20 * second,
  },
  passphrase: () => undefined,
})
const { hosts } = readInventory([inventoryFile], { cwd: '/', home: '/root', defaultUser: 'bare' })
const bytes = readFileSync(payload)
const content = { file: payload, sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
const uploads = createUploads({ forks: hosts.length, directory: '/tmp', baseOf: async () => null })
const { signal } = new AbortController()
await Promise.all(
  hosts.map(async (host) => {
    const connection = await transport.connect(host)
    const far: Parameters<typeof deliver>[0] = {
      run: 'bench',
      exec: (script) => runScript(connection, { run: 'bench', verb: 'upload', become: null, ...script }),
      reconnect: (why) => Promise.reject(why),
    }
    const upload = { path: `${folder}/${host.address}/file`, content, isProgram: false }
    const probed = await probe(far, [upload], { withBase: () => false, signal })
    await deliver(far, upload, { probed, means: { ...uploads, signal } })
    await connection.close()
  }),
)
await uploads.close()
await transport.close()
delay.disable()
process.stdout.write(`${delay.percentile(99) / 1e6}\n`)
