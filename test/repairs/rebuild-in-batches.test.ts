import { beforeEach, describe, expect, test } from 'vitest';
import { rebuildConnection, type RebuiltResource } from '../../operations/rebuild-connection.ts';
import { resources } from '../../resources/index.ts';
import { waitingSessions } from '../support/blocked-session.ts';
import { subscription } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { tablesOf } from './tables-of.ts';

const { warehouse, adminUrl } = await createTestDatabase();

describe('a rebuild of more records than one transaction takes', () => {
  const many = Array.from({ length: 4_500 }, (_, index) =>
    subscription(`s${String(index).padStart(5, '0')}`, { items: `[{"amount":${index}.10}]` }),
  );
  let connectionId = '';
  let before: unknown;

  beforeEach(async () => {
    connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'subscriptions', pages: [many] });
    before = await tablesOf(warehouse, connectionId, 'subscriptions');
    await warehouse.pool.query('delete from finance.subscription_items where connection_id = $1', [
      connectionId,
    ]);
    await warehouse.pool.query(
      `delete from finance.subscriptions where connection_id = $1 and id like '%7'`,
      [connectionId],
    );
  });

  test('runs batch by batch, and reports progress', async () => {
    const progress: number[] = [];
    await rebuild(connectionId, ({ resource, written }) => {
      if (resource === 'subscriptions') progress.push(written);
    });
    expect(progress).toEqual([2_000, 4_000, 4_500, 4_500]);
    expect(await tablesOf(warehouse, connectionId, 'subscriptions')).toEqual(before);
  });

  test('ends the same if it is killed between two batches and run again', async () => {
    const blocker = await warehouse.pool.connect();
    await blocker.query('begin');
    await blocker.query(
      `select from finance.subscriptions where connection_id = $1 and id = 's03000' for update`,
      [connectionId],
    );
    const failed = expect(rebuild(connectionId)).rejects.toThrow();
    const [pid] = await waitingSessions(adminUrl);
    await warehouse.pool.query('select pg_terminate_backend($1)', [pid]);
    await failed;
    await blocker.query('rollback');
    blocker.release();
    const lines = await rows(warehouse, 'select from finance.subscription_items where connection_id = $1', [
      connectionId,
    ]);
    expect(lines).toHaveLength(2_000);
    await rebuild(connectionId);
    expect(await tablesOf(warehouse, connectionId, 'subscriptions')).toEqual(before);
    expect(
      await rows(
        warehouse,
        `select status from sync.runs where connection_id = $1 and kind = 'rebuild' order by started_at`,
        [connectionId],
      ),
    ).toEqual([{ status: 'failed' }, { status: 'succeeded' }]);
  });

  test('allows a sync to land between two batches', async () => {
    const landing: Promise<unknown>[] = [];
    await rebuild(connectionId, ({ resource, written }) => {
      if (resource !== 'subscriptions' || written !== 2_000) return;
      const newer = [0, 4_400].map((index) =>
        subscription(`s${String(index).padStart(5, '0')}`, {
          status: '"paused"',
          updated_at: '"2024-06-01"',
        }),
      );
      landing.push(land(warehouse, { connectionId, stream: 'subscriptions', pages: [newer] }));
    });
    await Promise.all(landing);
    expect(
      await rows(
        warehouse,
        `select id from finance.subscriptions where connection_id = $1 and status = 'paused' order by id`,
        [connectionId],
      ),
    ).toEqual([{ id: 's00000' }, { id: 's04400' }]);
  });
});

function rebuild(
  connectionId: string,
  onBatch: (sofar: RebuiltResource) => void = () => undefined,
): Promise<RebuiltResource[]> {
  return rebuildConnection(warehouse, { connectionId, resources, onBatch });
}
