import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

const { TEST_PROOF } = process.env;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // What proves by mass is `npm run proof`'s: test/support/proof-test.ts.
    exclude: [
      ...configDefaults.exclude,
      ...(TEST_PROOF === undefined ? ['**/*.proof.test.ts'] : []),
      // Six kills at every commit of the product take an hour.
      ...(TEST_PROOF === 'all' ? [] : ['test/faults/matrix.proof.test.ts']),
    ],
    globalSetup: ['test/support/global-setup.ts'],
    // Two cores, and a file waits for servers 38 % of its time: three left 15 % of the cores idle.
    maxWorkers: 4,
    // Test files share nothing but what they only read, and loading it anew for each took a tenth of the run.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Ends what hangs, and no busy machine reaches it; how long something may take a test says itself.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    onConsoleLog: () => true,
  },
});
