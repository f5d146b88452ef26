import { Client } from 'pg';
import { expect, test, vi } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addTombstone } from '../support/tombstone.ts';

const { warehouse } = await createTestDatabase();

test('an unchanged bill causes no lookup of open entries of other bills', async () => {
  const connectionId = await addTestConnection(warehouse);
  await leaveOpen(connectionId);
  const known = bill('known');
  await land(warehouse, { connectionId, stream: 'bills', pages: [[known]] });
  const settled = await settlingOf(() =>
    land(warehouse, { connectionId, stream: 'bills', pages: [[known]] }),
  );
  expect(settled).toEqual([]);
});

test('a good version settles the open entries of its own bill alone', async () => {
  const connectionId = await addTestConnection(warehouse);
  await leaveOpen(connectionId);
  const page = [bill('known'), later('deleted'), later('refused')];
  const settled = await settlingOf(() => land(warehouse, { connectionId, stream: 'bills', pages: [page] }));
  expect(settled).toEqual([['deleted', 'refused']]);
  expect(await open(connectionId)).toEqual({ tombstones: ['other'], entries: [], issues: ['issue'] });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[later('issue')]] });
  expect(await open(connectionId)).toEqual({ tombstones: ['other'], entries: [], issues: [] });
});

const later = (id: string): string => bill(id, { last_synced_at: '"2031-01-01T00:00:00Z"' });

/** Adds tombstones of two bills, a quarantine entry of a third, and a field issue of a fourth. */
async function leaveOpen(connectionId: string): Promise<void> {
  for (const recordId of ['deleted', 'other'])
    await addTombstone(warehouse, { connectionId, recordId, version: '2030-01-01T00:00:00Z' });
  await land(warehouse, {
    connectionId,
    stream: 'bills',
    pages: [[bill('refused', { currency_code: '1' }), bill('issue', { currency_rate: '"N/A"' })]],
  });
  expect(await open(connectionId)).toEqual({
    tombstones: ['deleted', 'other'],
    entries: ['refused'],
    issues: ['issue'],
  });
}

async function open(connectionId: string): Promise<Record<'tombstones' | 'entries' | 'issues', unknown[]>> {
  const ids = async (from: string): Promise<unknown[]> =>
    (await rows(warehouse, `select record_id from ${from} order by 1`, [connectionId])).map(
      ({ record_id }) => record_id,
    );
  return {
    tombstones: await ids('sync.tombstones where connection_id = $1'),
    entries: await ids(`sync.quarantine where connection_id = $1 and status = 'open'`),
    issues: await ids('sync.field_issues where connection_id = $1'),
  };
}

/** The IDs in each statement that settles. */
async function settlingOf(work: () => Promise<unknown>): Promise<unknown[]> {
  const query = vi.spyOn(Client.prototype, 'query');
  try {
    await work();
    return query.mock.calls.flatMap(([statement]) => {
      const { name, values } = statement as unknown as { name?: string; values?: unknown[] };
      return name === 'settle records' ? [values?.[2]] : [];
    });
  } finally {
    query.mockRestore();
  }
}
