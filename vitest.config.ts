import { defineConfig } from 'vitest/config'
import { LongFirst } from './test/support/order.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts', 'test/conformance/set-up.ts'],
    setupFiles: ['test/support/property-settings.ts'],
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongFirst },
    testTimeout: 15_000,
    hookTimeout: 30_000,
    // A busy machine is slow: what is polled for fails late, and passes at once.
    expect: { poll: { timeout: 10_000 } },
  },
})
