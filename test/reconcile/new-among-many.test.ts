import { expect, test } from 'vitest';
import { listAgain, confirmBySecondListing } from '../../warehouse/reconcile/confirm-absent.ts';
import { findAbsent } from '../../warehouse/reconcile/find-absent.ts';
import { finishResource } from '../../warehouse/reconcile/finish-resource.ts';
import { bill } from '../support/finance-records.ts';
import { land, landRecords } from '../support/land.ts';
import { landListing } from '../support/land-listing.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

/** Too few for Postgres to analyze its tables once more, which hold as many of another connection. */
const many = Array.from({ length: 8_000 }, (_, place) => bill(`bill-${place}`));

const { warehouse } = await createTestDatabase();

test('a reconcile of a connection that the statistics of Postgres do not know of costs what one costs that they know', async () => {
  await landOf(await addTestConnection(warehouse));
  for (const of of ['finance', 'sync'])
    for (const { name } of await rows(
      warehouse,
      'select format($$%I.%I$$, schemaname, relname) as name from pg_stat_user_tables where schemaname = $1',
      [of],
    )) {
      await warehouse.pool.query(`analyze ${String(name)}`);
      await warehouse.pool.query(`alter table ${String(name)} set (autovacuum_enabled = off)`);
    }
  const connectionId = await addTestConnection(warehouse);
  await landOf(connectionId);
  // A hundred times what it takes; where lines or lists are gone through again for each record, it is a minute and more.
  await warehouse.pool.query(
    `do $$ begin execute format('alter database %I set statement_timeout = %L', current_database(), '10s'); end $$`,
  );
  await endSessions();

  const all = await landListing(warehouse, { connectionId, stream: 'bills', records: many });
  expect(await findAbsent(warehouse, all)).toMatchObject({ absent: 0 });
  expect(await finishResource(warehouse, { ...all, waiting: 0, held: 0, before: 0 })).toEqual({
    waiting: 0,
    equal: true,
  });

  const none = await landListing(warehouse, { connectionId, stream: 'bills', records: many.slice(0, 1) });
  expect(await findAbsent(warehouse, none)).toMatchObject({ absent: many.length - 1 });
  await listAgain(warehouse, none);
  await landRecords(warehouse, { pass: none.pass, records: many });
  await confirmBySecondListing(warehouse, { ...none, unfetchable: false });
  expect(
    await rows(
      warehouse,
      'select status, count(*)::int as records from sync.discrepancies where connection_id = $1 group by status',
      [connectionId],
    ),
  ).toEqual([{ status: 'dismissed', records: many.length - 1 }]);
});

async function landOf(connectionId: string): Promise<void> {
  const pages = [many.slice(0, many.length / 2), many.slice(many.length / 2)];
  await land(warehouse, { connectionId, stream: 'bills', pages });
}

/** Those of the pool have the settings from before. */
async function endSessions(): Promise<void> {
  const clients = await Promise.all(Array.from({ length: 2 }, () => warehouse.pool.connect()));
  for (const client of clients) client.release(true);
}
