import { expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { sync } from '../support/sync.ts';

const installation = await createInstallation({ chaos: 'nasty' });
await installation.startWorker();

test('a sync of many malformed records lands those that can land, and quarantines the rest', async () => {
  const connection = await installation.connect({ records: 6_000 });
  const { run, failure } = await sync(installation, connection);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('partial');
  const comparison = await installation.compare(connection);
  expect(comparison.differences).toEqual([]);
  expect(comparison.records).toBeGreaterThan(5_000);
  expect(comparison.quarantined).toBeGreaterThan(5);
});
