import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { isProof } from '../support/proof-test.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at } from '../replication/scripted-service.ts';
import { createServiceStarter } from '../replication/serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test('amounts whose sum exceeds a Postgres numeric are quarantined, and a reconcile completes', async () => {
  const service = await serve();
  const huge = '9'.repeat(131_072);
  service.lists = { bills: [bill('a'), ...['b', 'c'].map((id) => bill(id, { total_amount: huge }))] };
  expect(await service.sync(['bills'])).toMatchObject({
    status: 'partial',
    streams: [{ quarantined: 2 }, {}],
  });
  expect(await service.ids('bills')).toEqual(['a']);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
});

test('oversized amounts landed by an earlier release do not fail a reconcile', async () => {
  const service = await serve();
  const huge = '9'.repeat(131_072);
  service.lists = { bills: ['a', 'b', 'c'].map((id) => bill(id)) };
  await service.sync(['bills']);
  await warehouse.pool.query(
    `update finance.bills set total_amount = $2::numeric where connection_id = $1 and id <> 'a'`,
    [service.connection, huge],
  );
  service.lists.bills = [
    bill('a'),
    ...['b', 'c'].map((id) => bill(id, { total_amount: huge, last_synced_at: at() })),
  ];
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
  expect(service.failures).toEqual([]);
});

test('totals of thousands of currencies are all compared, but only a hundred are stored, differing ones first', async () => {
  const service = await serve();
  const count = isProof ? 3_000 : 600;
  const last = `C${count - 1}`;
  const codes = Array.from({ length: count }, (_, index) => `C${index}`);
  const of = (code: string, total = '7.5'): string =>
    bill(code, { currency_code: `"${code}"`, total_amount: total, last_synced_at: at(-3_600_000) });
  service.lists = { bills: codes.map((code) => of(code)) };
  await service.sync(['bills']);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  const kept = `
    select (totals ->> 'equal')::boolean as equal, totals ->> 'currencies' as currencies, length(totals::text) < 100000 as is_short,
      (select count(*)::int from jsonb_object_keys(totals -> 'source')) as source,
      (select count(*)::int from jsonb_object_keys(totals -> 'warehouse')) as warehouse,
      totals #>> '{warehouse,${last},total_amount}' as last
    from sync.run_streams join sync.runs r using (run_id)
    where r.connection_id = $1 and kind = 'reconcile' and stream = 'bills' order by r.started_at desc limit 1`;
  const bounded = { currencies: `${count}`, is_short: true, source: 100, warehouse: 100 };
  expect(await service.rows(kept)).toEqual([{ ...bounded, equal: true, last: null }]);
  const huge = { currency_code: `"${last}"`, total_amount: '9'.repeat(131_072), last_synced_at: at() };
  service.lists.bills = [...codes.slice(0, -1).map((code) => of(code)), bill(last, huge)];
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
  // Unreadable values, a currency included, are counted under none.
  expect(await service.rows(kept)).toEqual([
    { ...bounded, currencies: `${count + 1}`, source: 99, warehouse: 99, equal: false, last: '7.5' },
  ]);
});
