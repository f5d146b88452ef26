import { describe, expect, test } from 'vitest';
import type { PageFacts } from '../../warehouse/passes/record-page.ts';
import { bill, expense, subscription } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addTombstone } from '../support/tombstone.ts';

const { warehouse } = await createTestDatabase();

describe('a record repeated in a page lands once, in its newest version', () => {
  test.each([
    ['the newer one first', '2024-02-01T00:00:00.000002Z', '2024-02-01T00:00:00.000001Z', 'first'],
    ['the newer one last', '2024-02-01T00:00:00.000001Z', '2024-02-01T00:00:00.000002Z', 'second'],
    [
      'of equal versions the later one',
      '2024-02-01T00:00:00.000001Z',
      '2024-02-01T00:00:00.000001Z',
      'second',
    ],
    [
      'of versions in two zones the later moment',
      '2024-02-01T01:00:00+00:00',
      '2024-02-01T01:30:00+01:00',
      'first',
    ],
  ])('%s', async (_, first, second, winner) => {
    const connectionId = await addTestConnection(warehouse);
    const facts = await landPage(
      connectionId,
      version(first, 'first'),
      bill('other'),
      version(second, 'second'),
    );
    expect(facts).toMatchObject({ read: 3, inserted: 2, updated: 0 });
    expect(await memoOf(connectionId)).toBe(winner);
    expect(await versionsOf(connectionId)).toBe(1);
  });
});

describe('an older version never wins', () => {
  test('a version that is older by a microsecond is suppressed, whichever page brings it', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landPage(connectionId, version('2024-02-01T00:00:00.000002Z', 'newer'));
    const facts = await landPage(connectionId, version('2024-02-01T00:00:00.000001Z', 'older'));
    expect(facts).toMatchObject({ updated: 0, unchanged: 0, suppressed: 1 });
    expect(await memoOf(connectionId)).toBe('newer');
    expect(await versionsOf(connectionId)).toBe(1);
  });

  test('an older version with the same content does not move last_synced_at back', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landPage(connectionId, version('2024-02-02T00:00:00Z', 'same'));
    expect(await landPage(connectionId, version('2024-02-01T00:00:00Z', 'same'))).toMatchObject({
      suppressed: 1,
    });
    expect(await versionOf(connectionId)).toBe('2024-02-02 00:00:00+00');
  });

  test('subscriptions are compared by updated_at', async () => {
    const connectionId = await addTestConnection(warehouse);
    const at = (day: number, status: string): string =>
      subscription('s', { updated_at: `"2024-02-0${day}T00:00:00Z"`, status: `"${status}"` });
    const pages = [[at(2, 'newer')], [at(1, 'older')]];
    const [, facts] = await land(warehouse, { connectionId, stream: 'subscriptions', pages });
    expect(facts).toMatchObject({ suppressed: 1 });
    expect(
      await row(warehouse, 'select status from finance.subscriptions where connection_id = $1', [
        connectionId,
      ]),
    ).toEqual({ status: 'newer' });
  });

  test('an expense that became a refund is one record, whichever list brings it first', async () => {
    const connectionId = await addTestConnection(warehouse);
    const refund = expense('e', { expense_type: '"refund"', last_synced_at: '"2024-02-01T00:00:00Z"' });
    await land(warehouse, { connectionId, stream: 'refunds', pages: [[refund]] });
    await land(warehouse, { connectionId, stream: 'expenses', pages: [[expense('e')]] });
    expect(
      await rows(warehouse, 'select id, expense_type from finance.expenses where connection_id = $1', [
        connectionId,
      ]),
    ).toEqual([{ id: 'e', expense_type: 'refund' }]);
  });
});

test('a version with an equal time and other content replaces the held one', async () => {
  const connectionId = await addTestConnection(warehouse);
  await landPage(connectionId, version('2024-02-01T00:00:00Z', 'first told'));
  const facts = await landPage(connectionId, version('2024-02-01T00:00:00Z', 'corrected'));
  expect(facts).toMatchObject({ updated: 1 });
  expect(await memoOf(connectionId)).toBe('corrected');
});

test('the same ID in another connection is another record', async () => {
  const [one, two] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
  await landPage(one, version('2024-02-02T00:00:00Z', 'one'));
  await landPage(two, version('2024-02-01T00:00:00Z', 'two'));
  expect([await memoOf(one), await memoOf(two)]).toEqual(['one', 'two']);
});

describe('a tombstone', () => {
  const deletedAt = '2024-02-01T00:00:00.000005Z';

  test.each([
    ['an older version', '2024-02-01T00:00:00.000004Z'],
    ['a version of the same microsecond: ties go to the tombstone', '2024-02-01T00:00:00.000005Z'],
  ])('beats %s', async (_, synced) => {
    const connectionId = await addTestConnection(warehouse);
    await addTombstone(warehouse, { connectionId, recordId: 'b', version: deletedAt });
    expect(await landPage(connectionId, version(synced, 'late page'))).toMatchObject({
      inserted: 0,
      suppressed: 1,
    });
    expect(await memoOf(connectionId)).toBeUndefined();
    expect(await deletedOf(connectionId)).toEqual([{ id: 'b' }]);
  });

  test('loses to a newer version, and the record leaves deleted_records', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addTombstone(warehouse, { connectionId, recordId: 'b', version: deletedAt });
    const facts = await landPage(connectionId, version('2024-02-01T00:00:00.000006Z', 'alive'));
    expect(facts).toMatchObject({ inserted: 1, suppressed: 0 });
    expect(await memoOf(connectionId)).toBe('alive');
    expect(await deletedOf(connectionId)).toEqual([]);
  });

  test('applies to one resource: a record of another resource with the same ID lands', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addTombstone(warehouse, { connectionId, recordId: 'b', version: deletedAt });
    const [facts] = await land(warehouse, { connectionId, stream: 'expenses', pages: [[expense('b')]] });
    expect(facts).toMatchObject({ inserted: 1, suppressed: 0 });
    expect(await deletedOf(connectionId)).toEqual([{ id: 'b' }]);
  });
});

function version(lastSyncedAt: string, memo: string): string {
  return bill('b', { last_synced_at: `"${lastSyncedAt}"`, memo: `"${memo}"` });
}

async function landPage(connectionId: string, ...records: string[]): Promise<PageFacts | undefined> {
  const [facts] = await land(warehouse, { connectionId, stream: 'bills', pages: [records] });
  return facts;
}

async function memoOf(connectionId: string): Promise<unknown> {
  const [held] = await rows(
    warehouse,
    `select memo from finance.bills where connection_id = $1 and id = 'b'`,
    [connectionId],
  );
  return held?.memo;
}

async function versionOf(connectionId: string): Promise<unknown> {
  const held = await row(
    warehouse,
    `select last_synced_at::text as version from finance.bills where connection_id = $1 and id = 'b'`,
    [connectionId],
  );
  return held.version;
}

async function versionsOf(connectionId: string): Promise<unknown> {
  const counted = await row(
    warehouse,
    `select count(*) as versions from history.record_versions where connection_id = $1 and record_id = 'b'`,
    [connectionId],
  );
  return counted.versions;
}

function deletedOf(connectionId: string): Promise<unknown[]> {
  return rows(warehouse, 'select id from finance.deleted_records where connection_id = $1', [connectionId]);
}
