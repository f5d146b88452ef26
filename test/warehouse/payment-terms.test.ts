import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test('a bill with a list of payment terms lands, with the list as JSON text', async () => {
  const connectionId = await addTestConnection(warehouse);
  const page = [
    bill('one', { payment_terms_id: '"a"' }),
    bill('several', { payment_terms_id: '["a","b"]' }),
    bill('none', { payment_terms_id: '""' }),
  ];
  await land(warehouse, { connectionId, stream: 'bills', pages: [page] });
  const landed =
    'select id, payment_terms_id as terms from finance.bills where connection_id = $1 order by id';
  expect(await rows(warehouse, landed, [connectionId])).toEqual([
    { id: 'none', terms: null },
    { id: 'one', terms: 'a' },
    { id: 'several', terms: '["a", "b"]' },
  ]);
  expect(
    await rows(warehouse, 'select from sync.quarantine where connection_id = $1', [connectionId]),
  ).toEqual([]);
});
