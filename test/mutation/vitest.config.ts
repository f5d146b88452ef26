import { defineConfig } from 'vitest/config';
import { checksAsked, InOrder } from './in-order.ts';

/** Checks a copy of the sources in one process, in the order asked for, until something fails. */
export default defineConfig({
  cacheDir: '.vite',
  test: {
    include: checksAsked(),
    globalSetup: ['test/mutation/global-setup.ts'],
    sequence: { sequencer: InOrder },
    maxWorkers: 1,
    isolate: false,
    bail: 1,
    // A mistake may make something wait forever.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
