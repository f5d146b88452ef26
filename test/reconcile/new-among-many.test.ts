import { expect, test } from 'vitest';
import { listAgain, confirmBySecondListing } from '../../warehouse/reconcile/confirm-absent.ts';
import { deleteAbsent } from '../../warehouse/reconcile/delete-absent.ts';
import { findAbsent } from '../../warehouse/reconcile/find-absent.ts';
import { finishResource } from '../../warehouse/reconcile/finish-resource.ts';
import { removeOrphans } from '../../warehouse/reconcile/remove-orphans.ts';
import { bill } from '../support/finance-records.ts';
import { land, landRecords } from '../support/land.ts';
import { landListing } from '../support/land-listing.ts';
import { isProof } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { limitStatementTime } from '../support/limit-statement-time.ts';

/**
 * Too few for Postgres to analyze its tables again, which hold as many of another connection. With half of these, statements that scan them
 * for each record take from one second to fifteen; `npm run proof` has the ones that take four.
 */
const many = Array.from({ length: isProof ? 8_000 : 4_000 }, (_, place) => bill(`bill-${place}`));

const { warehouse } = await createTestDatabase();

test('a reconcile of a connection unknown to Postgres statistics costs as much as one of a known connection', async () => {
  await landMany(await addTestConnection(warehouse));
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
  await landMany(connectionId);
  // If lines or lists are scanned again for each record, one statement takes from four seconds to a minute.
  await limitStatementTime(warehouse);

  const all = await landListing(warehouse, { connectionId, stream: 'bills', records: many });
  expect(await findAbsent(warehouse, all)).toMatchObject({ absent: 0 });
  await removeOrphans(warehouse, all);
  expect(await finishResource(warehouse, { ...all, waiting: 0, held: 0, before: 0 })).toEqual({
    waiting: 0,
    equal: true,
  });

  for (const [shownAgain, status] of [
    [many, 'dismissed'],
    [many.slice(0, 1), 'repaired'],
  ] as const) {
    const one = await landListing(warehouse, { connectionId, stream: 'bills', records: many.slice(0, 1) });
    const absent = many.length - 1;
    expect(await findAbsent(warehouse, one)).toMatchObject({ absent });
    const undecided = await deleteAbsent(warehouse, { ...one, limit: 1 });
    expect(undecided).toMatchObject({ deleted: 0, waiting: 0, held: many.length });
    await listAgain(warehouse, one);
    await landRecords(warehouse, { pass: one.pass, records: shownAgain });
    await confirmBySecondListing(warehouse, { ...one, unfetchable: false });
    const decided = await deleteAbsent(warehouse, { ...one, limit: 1 });
    expect(decided).toMatchObject({ deleted: status === 'repaired' ? absent : 0 });
    expect(await finishResource(warehouse, { ...one, ...decided })).toEqual({ waiting: 0, equal: true });
    const found = 'select count(*)::int as records from sync.discrepancies where run_id = $1 and status = $2';
    expect(await rows(warehouse, found, [one.runId, status])).toEqual([{ records: absent }]);
  }
});

async function landMany(connectionId: string): Promise<void> {
  const pages = [many.slice(0, many.length / 2), many.slice(many.length / 2)];
  await land(warehouse, { connectionId, stream: 'bills', pages });
}
