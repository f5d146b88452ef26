import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { resourceNamed, streamNamed } from '../../resources/index.ts';
import { sourceRecord } from '../../resources/source-record.ts';
import { biLoginUrl } from '../../warehouse/bi-login.ts';
import { beginRemoval } from '../../warehouse/connections/begin-removal.ts';
import { finishRemoval } from '../../warehouse/connections/finish-removal.ts';
import { proveToken } from '../../warehouse/connections/prove-token.ts';
import { refuseToken } from '../../warehouse/connections/refuse-token.ts';
import { renewStatistics } from '../../warehouse/erase/renew-statistics.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { forgetWatermark } from '../../warehouse/passes/forget-watermark.ts';
import { readFromFurtherBack } from '../../warehouse/passes/read-from-further-back.ts';
import { fillMart } from '../../warehouse/marts/fill-mart.ts';
import { noteMissing } from '../../warehouse/passes/note-missing.ts';
import { addReader, type NewReader } from '../../warehouse/readers/add-reader.ts';
import { removeReader, UnknownReader } from '../../warehouse/readers/remove-reader.ts';
import { shareWithTenants } from '../../warehouse/readers/share-with-tenants.ts';
import { beginAgainIfStoodStill } from '../../warehouse/reconcile/begin-again.ts';
import { findAbsent } from '../../warehouse/reconcile/find-absent.ts';
import { landAhead } from '../../warehouse/reconcile/land-ahead.ts';
import { removeOrphans } from '../../warehouse/reconcile/remove-orphans.ts';
import { wantReconcilesWith } from '../../warehouse/reconcile/want-reconcile.ts';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { keepWeights } from '../../warehouse/snapshots/keep-weights.ts';
import { lockHeld } from '../lake/lock-held.ts';
import { endingSessions } from '../support/ending-sessions.ts';
import { bill } from '../support/finance-records.ts';
import { landListing } from '../support/land-listing.ts';
import { land, readTokenMark, openPass } from '../support/land.ts';
import { some } from '../support/proof-test.ts';
import { rows, type Row } from '../support/rows.ts';
import { addTestConnection, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { faultAt } from './planned-kills.ts';
import { prove } from './prove.ts';

const { url, warehouse } = await createTestDatabase();
await warehouse.pool.query('create schema marts_a; create table marts_a.bills (connection_id text)');

/** Steps whose commits the matrix never reaches, because its clocks and tokens are right. */
const steps: Record<string, (connectionId: string) => Promise<(on: Warehouse) => Promise<unknown>>> = {
  'warehouse/bi-login.ts': async () => {
    const input = { key: testKey, databaseUrl: url };
    await biLoginUrl(warehouse, input);
    await warehouse.pool.query(`delete from sync.settings where name = 'bi_login'`);
    return (on) => biLoginUrl(on, input);
  },
  'warehouse/connections/prove-token.ts': async (connectionId) => {
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await warehouse.pool.query('update sync.runs set proved_token = null where run_id = $1', [pass.runId]);
    const identity = { id: connectionId, orgId: 'org', platform: 'XERO' };
    return (on) => proveToken(on, { ...pass, identity });
  },
  'warehouse/connections/refuse-token.ts': async (connectionId) => {
    const token = await readTokenMark(warehouse, connectionId);
    return (on) => refuseToken(on, { connectionId, token });
  },
  'warehouse/connections/begin-removal.ts': async (connectionId) => {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    return (on) => beginRemoval(on, { connectionId, keepData: false });
  },
  'warehouse/connections/finish-removal.ts': async (connectionId) => {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    const { removal } = await beginRemoval(warehouse, { connectionId, keepData: false });
    return (on) => finishRemoval(on, { removal: removal! });
  },
  // For empty tables: the temporary row is never committed.
  'warehouse/erase/renew-statistics.ts': (connectionId) => {
    const record = { connectionId, resource: resourceNamed('items'), id: 'erased' };
    return Promise.resolve((on) => renewStatistics(on, record));
  },
  'warehouse/marts/fill-mart.ts': (connectionId) =>
    Promise.resolve(async (on) => {
      const columns = [{ name: 'connection_id', type: 'text', isNullable: false, comment: 'whose' }];
      const table = { name: 'bills', comment: 'bills', columns, indexes: [['connection_id']] };
      const client = await on.pool.connect();
      try {
        // As every copy does first, for a killed one may have left tables.
        await client.query('drop table if exists marts_a.bills');
        await fillMart(client, 'marts_a', { table, rows: Readable.from([`${connectionId}\n`]) });
      } finally {
        client.release(true);
      }
    }),
  'warehouse/passes/forget-watermark.ts': async (connectionId) => {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    return (on) =>
      forgetWatermark(on, {
        pass,
        resource: streamNamed('bills').resource,
        servedAt: new Date(),
        heardAt: null,
      });
  },
  'warehouse/passes/read-from-further-back.ts': async (connectionId) => {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    const answer = { resource: streamNamed('bills').resource, servedAt: new Date(), heardAt: null };
    return (on) => readFromFurtherBack(on, { pass, ...answer, milliseconds: 60_000 });
  },
  'warehouse/passes/note-missing.ts': async (connectionId) => {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    return (on) => noteMissing(on, { pass, requests: 0 });
  },
  'warehouse/readers/add-reader.ts': (connectionId) =>
    Promise.resolve((on) => addReader(on, buildReader(connectionId))),
  'warehouse/readers/remove-reader.ts': async (connectionId) => {
    await addReader(warehouse, buildReader(connectionId));
    return async (on) => {
      // A caller that got no confirmation retries, and learns that no such reader exists.
      const isGone = (error: unknown): void => {
        if (!(error instanceof UnknownReader)) throw error;
      };
      await removeReader(on, connectionId).catch(isGone);
    };
  },
  'warehouse/readers/share-with-tenants.ts': () => Promise.resolve((on) => shareWithTenants(on)),
  'warehouse/reconcile/begin-again.ts': async (connectionId) => {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b'), bill('gone')]] });
    const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [bill('b')] });
    await findAbsent(warehouse, listing);
    await warehouse.pool.query(
      'update sync.passes set stood_still_seconds = 90000 where connection_id = $1',
      [connectionId],
    );
    return (on) => beginAgainIfStoodStill(on, listing);
  },
  'warehouse/reconcile/remove-orphans.ts': async (connectionId) => {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [] });
    await warehouse.pool.query('delete from finance.bills where connection_id = $1', [connectionId]);
    return (on) => removeOrphans(on, listing);
  },
  'warehouse/reconcile/land-ahead.ts': async (connectionId) => {
    const held = bill('b', { memo: '"ahead"', last_synced_at: '"2026-01-01T00:00:00Z"' });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[held]] });
    const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [bill('b')] });
    await findAbsent(warehouse, listing);
    const record = sourceRecord(bill('b'));
    return (on) => landAhead(on, { ...listing, id: 'b', kind: 'ahead', token: listing.pass.token, record });
  },
  'warehouse/reconcile/want-reconcile.ts': async (connectionId) => {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    const resource = resourceNamed('bills');
    return (on) => wantReconcilesWith(on.pool, [{ connectionId, resource }], () => Promise.resolve());
  },
  'warehouse/transactions/batches.ts': async (connectionId) => {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    const keep = { runsMilliseconds: 0, quietRunsMilliseconds: 0, historyMilliseconds: 0 };
    return (on) => pruneWarehouse(on, { keep, dryRun: false });
  },
  'warehouse/snapshots/keep-weights.ts': (connectionId) => {
    const fresh = [{ connection: connectionId, changes: '1', rows: 2, mark: 'found' }];
    const weights = { table: 'bills', writtenTo: 'finance.bills', fresh, isAll: false, uncounted: [] };
    return Promise.resolve(async (on) => {
      const client = await on.pool.connect();
      await keepWeights(client, { weights: [weights], assertHeld: lockHeld }).finally(() => {
        client.release(true);
      });
    });
  },
};

function buildReader(connectionId: string): NewReader {
  return { reader: connectionId, connections: [connectionId], databaseUrl: url };
}

describe.each(some(Object.keys(steps), 8))('%s', (file) => {
  test.each(['before', 'after'] as const)(
    'leaves the same state as one undisturbed run if its session ends %s the commit and it runs again',
    async (when) => {
      const undisturbed = await stateAfter(file, (step) => step(warehouse));
      const disturbed = await stateAfter(file, async (step) => {
        await expect(step(endingSessions(warehouse, when))).rejects.toThrow();
        await step(warehouse);
      });
      expect(disturbed).toEqual(undisturbed);
    },
  );

  test('has a row in docs/proof.md', async () => {
    const during = '`test/faults/killed-at-commit.test.ts`';
    const survived = 'the session of Postgres before and after';
    await prove({ fault: faultAt(file), during, survived, seen: '' });
  });
});

async function stateAfter(
  file: string,
  work: (step: (on: Warehouse) => Promise<unknown>) => Promise<unknown>,
): Promise<Row[][]> {
  const connectionId = await addTestConnection(warehouse);
  const step = await steps[file]!(connectionId);
  await work(step);
  const readState = (sql: string): Promise<Row[]> => rows(warehouse, sql, [connectionId]);
  return [
    await readState(
      `select refused_token is not null as refused, paused_by, org_id from sync.connections where connection_id = $1`,
    ),
    await readState(
      `select proved_token is not null as proved from sync.runs where connection_id = $1 order by started_at`,
    ),
    await readState(
      `select stream, capability, watermark, missing_since is not null as missing from sync.streams where connection_id = $1`,
    ),
    await readState(`select kind, floor, cursor, highest_seen from sync.passes where connection_id = $1`),
    await readState(`select id, memo, last_synced_at from finance.bills where connection_id = $1`),
    await readState(
      `select op, payload ->> 'memo' as memo from history.record_versions where connection_id = $1 order by recorded_at`,
    ),
    await readState(
      `select removing_at is not null as going from sync.all_connections where connection_id = $1`,
    ),
    await readState(`select kind, status, closed_why from sync.discrepancies where connection_id = $1`),
    await readState(
      `select rolname is not null as can_log_in
       from sync.reader_connections join sync.readers using (reader) left join pg_roles on rolname = login
       where connection_id = $1`,
    ),
    await readState('select connection_id = $1 as is_its_own from marts_a.bills where connection_id = $1'),
    await readState(
      'select table_name, changes, rows, mark from sync.table_weights where connection_id = $1',
    ),
  ];
}
