import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Two cores, real servers: more files at once only makes each of them slower.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    onConsoleLog: () => true,
  },
});
