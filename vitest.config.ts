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
    // Two cores, and real servers that are often waited for: fewer leave the cores idle, more only make each file slower.
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    onConsoleLog: () => true,
  },
});
