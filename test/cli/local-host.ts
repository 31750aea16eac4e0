import { type Answer, createFakeConnection, type FakeConnection } from '../transport/fake-connection.ts'
import { runLocally } from '../transport/local-shell.ts'

/** Answers with what this machine says to the real, read-only script. */
export const local: Answer = {
  give: async (_call, request) => ({ ...(await runLocally(request)), signal: null }),
}

/** A host that is this machine, asked exactly once. */
export const askedOnce = (): FakeConnection => createFakeConnection({ inspect: local })
