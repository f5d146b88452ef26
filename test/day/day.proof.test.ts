import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';
import { runDay } from './run-day.ts';

const { url, warehouse } = await createTestDatabase();
const { address, namespace, client } = await createTestNamespace();
const folder = await mkdtemp(join(tmpdir(), 'daybook-day-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the warehouse matches the source after a day of changes, lost and doubled webhooks, faults and killed processes', async () => {
  const servers = {
    databaseUrl: url,
    warehouse,
    temporalAddress: address,
    namespace,
    client,
    folder,
  };
  const seed = Date.now() % 1_000_000;
  const options = { ticks: 20, tickSeconds: 1, records: 200, seed };
  const { summary, complaints } = await runDay(servers, options, () => undefined);
  expect(complaints, `npm run day -- --ticks 20 --seed ${seed}`).toEqual([]);
  expect(summary.ticks).toBeGreaterThanOrEqual(20);
  expect(summary.kills).toBeGreaterThan(0);
  expect(summary.faults).toBeGreaterThan(0);
});
