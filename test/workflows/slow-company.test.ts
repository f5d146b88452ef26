import { afterEach, expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { eventually } from '../support/eventually.ts';
import { some } from '../support/proof-test.ts';
import { startSync, sync } from '../support/sync.ts';

const installation = await createInstallation();
const { admin } = installation;
// The worker has four slots for pages.
await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
});

test.each(
  some([
    ['answers byte by byte', 'never-ending'],
    ['never answers', 'hang'],
  ] as const),
)(
  'an API that %s for one company holds up no other company of the worker',
  { timeout: 180_000 },
  async (_, kind) => {
    const slow = await installation.connect({ records: 30 });
    const honest = await installation.connect({ records: 30 });
    await admin.addFault({ match: { connection: slow }, fault: { kind } });
    const beginning = await startSync(installation, slow);
    await eventually(async () => {
      const asked = (await admin.requests()).filter(({ connection }) => connection === slow);
      return asked.length >= 4 ? true : undefined;
    });
    for (const turn of ['first', 'second']) {
      const began = performance.now();
      const { run } = await sync(installation, honest);
      expect(run.status, turn).toBe('succeeded');
      expect(performance.now() - began, turn).toBeLessThan(20_000);
    }
    await admin.clearFaults();
    const cleared = performance.now();
    // The test does not wait out the minute that a request without an answer may take.
    if (kind === 'hang') await beginning.cancel();
    else {
      expect(await beginning.result()).toMatchObject({ status: 'succeeded' });
      expect(performance.now() - cleared).toBeLessThan(40_000);
    }
  },
);
