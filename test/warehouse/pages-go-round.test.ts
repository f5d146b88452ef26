import { expect, test } from 'vitest';
import { streamNamed } from '../../resources/index.ts';
import { restartPass } from '../../warehouse/passes/restart-pass.ts';
import type { PassInHand } from '../../warehouse/passes/pass.ts';
import { bill } from '../support/finance-records.ts';
import { landRecords, openPass } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test.each([
  { until: 0, round: 2 },
  { until: 0, round: 5 },
  { until: 3, round: 2 },
  { until: 7, round: 9 },
])(
  'a list with a cycle of pages is detected: $until pages, then $round again and again',
  async ({ until, round }) => {
    const { pass } = await openBills();
    const cursors = (function* () {
      for (let page = 0; ; page++) yield `c${page < until ? page : until + ((page - until) % round)}`;
    })();
    await expect(landThrough(pass, cursors, 4 * (until + round))).rejects.toMatchObject({
      name: 'PagesGoRound',
      handling: 'restart',
    });
  },
);

test('a list that ends has no cycle, nor do equal pages of the next read or of a restarted one', async () => {
  const { connectionId, pass } = await openBills();
  const pages = Array.from({ length: 40 }, (_, page) => `c${page}`);
  await landThrough(pass, pages, 40);
  await restartPass(warehouse, {
    pass,
    ...streamNamed('bills'),
    lookbackMilliseconds: 600_000,
    why: 'cursor refused',
  });
  await landThrough(pass, pages, 40);
  await landRecords(warehouse, { pass, records: [bill('last')], nextCursor: null });
  const next = await openPass(warehouse, { connectionId, stream: 'bills' });
  await landThrough(next.pass, pages, 40);
});

test('a list that names ever more empty pages is detected, unless some pages have records', async () => {
  const { pass } = await openBills();
  await landRecords(warehouse, { pass, records: [bill('first')], nextCursor: 'c0' });
  await emptyPages(pass, 4_999);
  await landRecords(warehouse, { pass, records: [], nextCursor: 'c1' });
  await landRecords(warehouse, { pass, records: [bill('b')], nextCursor: 'c2' });
  await emptyPages(pass, 5_000);
  await expect(landRecords(warehouse, { pass, records: [], nextCursor: 'c3' })).rejects.toMatchObject({
    name: 'PagesNeverEnd',
    handling: 'restart',
  });
  await landRecords(warehouse, { pass, records: [], nextCursor: null });
});

/** Sets the number of empty pages that have come. */
async function emptyPages(pass: PassInHand, pages: number): Promise<void> {
  await warehouse.pool.query('update sync.passes set empty_pages = $2 where connection_id = $1', [
    pass.connectionId,
    pages,
  ]);
}

async function openBills(): Promise<{ connectionId: string; pass: PassInHand }> {
  const connectionId = await addTestConnection(warehouse);
  const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
  return { connectionId, pass };
}

async function landThrough(pass: PassInHand, cursors: Iterable<string>, atMost: number): Promise<void> {
  let pages = 0;
  for (const nextCursor of cursors) {
    if (pages++ === atMost) return;
    await landRecords(warehouse, { pass, records: [bill(nextCursor)], nextCursor });
  }
}
