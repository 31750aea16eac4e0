// upload.ts SHIPPED INVENTORY PAYLOAD FOLDER: one file to all hosts of the inventory at once, each under its address in the folder.
// Prints how long the slowest hundredth of the event loop's turns took, in milliseconds.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const [shipped = '', inventoryFile = '', payload = '', folder = ''] = process.argv.slice(2)
const part = (name: string): string => join(shipped, 'dist', name)
const { createTransport }: typeof import('../../src/transport/transport.ts') = await import(
  part('transport/transport.js')
)
const { uploadFile }: typeof import('../../src/transport/upload.ts') = await import(part('transport/upload.js'))
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
const sha256 = createHash('sha256').update(bytes).digest('hex')
await Promise.all(
  hosts.map(async (host) => {
    const connection = await transport.connect(host)
    await uploadFile(connection, {
      source: { bytes },
      path: `${folder}/${host.address}`,
      mode: '0644',
      sha256,
      run: 'bench',
      become: null,
      deadlineMs: 300 * second,
    })
    await connection.close()
  }),
)
await transport.close()
delay.disable()
process.stdout.write(`${delay.percentile(99) / 1e6}\n`)
