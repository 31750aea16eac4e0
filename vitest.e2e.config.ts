// Stories on real systemd hosts in containers (e2e/lab). They need a Docker engine, or root on Debian to start one.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['e2e/**/*.e2e.test.ts'],
    // Files run side by side, each on hosts of its own; more than this and two cores are slower, not faster.
    maxWorkers: 3,
    testTimeout: 180_000,
    // Long enough for the first build of the images on a fresh machine.
    hookTimeout: 600_000,
  },
})
