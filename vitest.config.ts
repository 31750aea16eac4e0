// The fast suite: pure code and strict fakes. What needs hosts or an sshd is in vitest.e2e.config.ts.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['test/**/*.test.ts'], exclude: ['test/**/*.integration.test.ts'], testTimeout: 30_000 },
})
