import pg from 'pg';
import { expect, test } from 'vitest';
import { resourceNamed, resources } from '../../resources/index.ts';
import { placesOfContent } from '../../warehouse/erase/places-of-content.ts';
import { renewStatistics } from '../../warehouse/erase/renew-statistics.ts';
import { bill, billCreditMemo, billLine } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';

const { connect, run, warehouse, databaseUrl } = await createInstallation({ commandsInOneProcess: true });

test('the statistics of Postgres hold nothing of an erased record', async () => {
  const connection = await connect();
  const bills = Array.from({ length: 90 }, (_, place) => bill(`b${place}`, { memo: `"m${100 + place}"` }));
  const erased = bill('to-erase', { memo: '"secret of ana"' });
  await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[...bills, erased]] });
  await warehouse.pool.query('analyze');
  expect(await statisticsWith('secret of ana')).toEqual(
    expect.arrayContaining(['finance.bills.memo', 'history.record_versions.payload']),
  );
  const { code, stderr } = await run(['erase', connection, 'bills', 'to-erase']);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  expect(await statisticsWith('secret of ana')).toEqual([]);
});

test('the statistics of Postgres hold nothing of an erased record that was the last row of its table', async () => {
  const connection = await connect();
  const [one, two] = [1, 2].map((place) => billLine({ description: `"secret of bob ${place}"` }));
  const erased = billCreditMemo('to-erase', { line_items: `[${one},${two}]` });
  await land(warehouse, { connectionId: connection, stream: 'bill_credit_memos', pages: [[erased]] });
  await warehouse.pool.query('analyze');
  expect(await statisticsWith('secret of bob')).toContain('finance.bill_credit_memo_lines.description');
  const { code, stderr } = await run(['erase', connection, 'bill_credit_memos', 'to-erase']);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  expect(await rows(warehouse, 'select id from finance.bill_credit_memos')).toEqual([]);
  expect(await statisticsWith('secret of bob')).toEqual([]);
});

test.each(resources.map((resource) => [resource.name, resource] as const))(
  'every table that may have held %s is analyzed, even if empty, and its rows stay unchanged',
  async (_, resource) => {
    const record = { connectionId: await connect(), resource, id: 'none' };
    const [{ name: stream }] = resource.streams;
    await land(warehouse, { connectionId: record.connectionId, stream, pages: [[]] });
    const tables = (await placesOfContent(warehouse.pool, record)).map(({ table }) => table);
    const all = async (): Promise<unknown> =>
      Promise.all(tables.map((table) => rows(warehouse, `select t::text from ${table} t order by 1`)));
    const before = await all();
    expect(await renewStatistics(warehouse, record)).toEqual([]);
    expect(await all()).toEqual(before);
    // Statistics exist for some column of each table, from at least one row.
    const known = await rows(
      warehouse,
      `select distinct format('%s.%s', schemaname, tablename) as name from pg_stats`,
    );
    expect(known.map(({ name }) => name)).toEqual(expect.arrayContaining(tables));
  },
);

test('a table locked by another session is named, the others are analyzed, and no reader or writer blocks it', async () => {
  const resource = resourceNamed('bills');
  const connection = await connect();
  const record = { connectionId: connection, resource, id: 'to-erase' };
  const twice = ['to-erase', 'beside'].map((id) => bill(id, { memo: '"secret of eve"' }));
  await warehouse.pool.query(`delete from finance.bills; delete from history.record_versions`);
  await land(warehouse, { connectionId: connection, stream: 'bills', pages: [twice] });
  await warehouse.pool.query('analyze');
  await warehouse.pool.query(
    `delete from finance.bills; delete from history.record_versions where resource = 'bills'`,
  );
  const vacuum = new pg.Client({ connectionString: databaseUrl });
  await vacuum.connect();
  await vacuum.query('begin; lock table finance.bills in share update exclusive mode');
  const kept = await renewStatistics(warehouse, record, { timeoutMilliseconds: 100 });
  expect(kept.map(({ message }) => message)).toEqual([
    'finance.bills was not analyzed (VACUUM, CREATE INDEX or ALTER TABLE has it in another session), so values of the record may still be in the statistics ' +
      'that Postgres keeps of it (pg_statistic).',
  ]);
  expect(await statisticsWith('secret of eve')).toEqual(['finance.bills.memo']);
  await vacuum.end();

  const reader = new pg.Client({ connectionString: databaseUrl });
  await reader.connect();
  await reader.query('begin; select from finance.bills; lock table finance.bills in row exclusive mode');
  expect(await renewStatistics(warehouse, record, { timeoutMilliseconds: 100 })).toEqual([]);
  expect(await statisticsWith('secret of eve')).toEqual([]);
  await reader.end();
});

/** The columns whose statistics contain the text. */
async function statisticsWith(text: string): Promise<string[]> {
  const found = await rows(
    warehouse,
    `select format('%s.%s.%s', schemaname, tablename, attname) as name from pg_stats
     where concat(most_common_vals::text, histogram_bounds::text, most_common_elems::text) like $1 order by 1`,
    [`%${text}%`],
  );
  return found.map(({ name }) => String(name));
}
