import { Client, Connection } from '@temporalio/client';
import { afterAll, expect, test } from 'vitest';
import { readinessChecks } from '../../server/readiness-checks.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { temporalAddress } from '../support/temporal-address.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url } = await createTestDatabase();
const connection = await Connection.connect({ address: await temporalAddress() });
afterAll(() => connection.close());
const client = new Client({ connection });

test('a process whose dependencies all answer is ready', async () => {
  const checks = readinessChecks({ warehouse, client, worker: workerDone(new Promise(() => undefined)) });
  expect(Object.keys(checks)).toEqual(['database', 'temporal', 'worker']);
  for (const check of Object.values(checks)) await expect(check()).resolves.not.toThrow();
});

test('a process without a worker has no worker check', () => {
  expect(Object.keys(readinessChecks({ warehouse, client }))).toEqual(['database', 'temporal']);
});

test('a missing database is not ready', async () => {
  const missing = openWarehouse({ url: `${url}_missing`, connections: 1 });
  await expect(readinessChecks({ warehouse: missing, client }).database?.()).rejects.toThrow(
    'does not exist',
  );
  await missing.close();
});

test('a Temporal server without the namespace is not ready', async () => {
  const elsewhere = new Client({ connection, namespace: 'nowhere' });
  await expect(readinessChecks({ warehouse, client: elsewhere }).temporal?.()).rejects.toThrow();
});

test.each([
  ['stopped', () => Promise.resolve()],
  ['failed', () => Promise.reject(new Error('broken'))],
])('a worker that has %s is not ready', async (_, done) => {
  const checks = readinessChecks({ warehouse, client, worker: workerDone(done()) });
  await expect(checks.worker?.()).rejects.toThrow();
});

function workerDone(done: Promise<void>): { done: Promise<void>; stop: () => Promise<void> } {
  return { done, stop: () => Promise.resolve() };
}
