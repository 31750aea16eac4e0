// The transport against a real sshd. Runs inside a lab image, which has one, so that no machine has to install a server.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['test/**/*.integration.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
})
