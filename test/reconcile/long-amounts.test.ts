import { expect, test } from 'vitest';
import { finishResource } from '../../warehouse/reconcile/finish-resource.ts';
import { bill, billLine, list } from '../support/finance-records.ts';
import { landListing } from '../support/land-listing.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test('amounts with long decimal forms are proved digit by digit without writing them out in memory', async () => {
  const connectionId = await addTestConnection(warehouse);
  const amount = '1e4990';
  const line = billLine({ total_amount: amount, tax_amount: amount, sub_total: amount });
  const amounts = { total_amount: amount, amount_due: amount, tax_amount: amount, sub_total: amount };
  const records = Array.from({ length: 3_000 }, (_, place) =>
    bill(`b${place}`, { ...amounts, line_items: list(line) }),
  );
  const before = process.memoryUsage().rss;
  let highest = before;
  const sampling = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss);
  }, 20);
  try {
    const listing = await landListing(warehouse, { connectionId, stream: 'bills', records });
    const finished = await finishResource(warehouse, { ...listing, waiting: 0, held: 0, before: 0 });
    expect(finished).toEqual({ waiting: 0, equal: true });
  } finally {
    clearInterval(sampling);
  }
  // Written out they exceed 100 MB, and a process that reads them holds several copies.
  expect((highest - before) / 1e6).toBeLessThan(100);
  const [proof] = await rows(
    warehouse,
    `select totals -> 'source' -> 'USD' ->> 'total_amount' as total from sync.run_streams where connection_id = $1`,
    [connectionId],
  );
  expect(String(proof?.total)).toMatch(/^30{900,}…?$/);
});
