import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/test-database.ts';
import { rows } from '../support/rows.ts';
import { ScriptedService } from './scripted-service.ts';

const { warehouse } = await createTestDatabase();

test('a list of millions of empty records fails only its own stream, with a readable error', async () => {
  const service = await new ScriptedService(warehouse).start();
  onTestFinished(() => {
    service.stop();
  });
  const token = `token-${service.connection}`;
  service.lists.customers = [
    `{"id":"c1","customer_name":"C","last_synced_at":"2026-11-01T00:00:00Z","updated_at":"2026-11-01T00:00:00Z","access_token":"${token}"}`,
  ];
  service.onList = (resource) =>
    resource === 'bills'
      ? { status: 200, body: `{"bills":[{}${',{}'.repeat(3_000_000)}],"next_cursor":null}` }
      : undefined;
  const { streams } = await service.sync(['bills', 'customers']);
  expect(streams).toMatchObject([
    { stream: 'bills', status: 'failed', failure_type: 'GaveUp' },
    { stream: 'customers', status: 'succeeded' },
    { stream: 'events', status: 'succeeded' },
  ]);
  expect(service.failures.join()).toContain('GET /accounting/bills answered with more than 500,000 values');
  expect(await service.ids('customers')).toEqual(['c1']);
  const kept = await rows(warehouse, 'select payload::text as text from history.record_versions', []);
  expect(kept).toHaveLength(1);
  expect(kept.map(({ text }) => String(text)).join()).not.toContain(token);
});
