import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Six kills at every commit of the product take an hour: `npm run faults`.
    exclude: [
      ...configDefaults.exclude,
      ...(process.env.TEST_FAULTS === 'all' ? [] : ['test/faults/matrix.test.ts']),
    ],
    globalSetup: ['test/support/global-setup.ts'],
    // Two cores, real servers: more files at once only makes each of them slower.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    onConsoleLog: () => true,
  },
});
