import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bill, billLine, list, type Fields } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { isProof } from '../support/proof-test.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();
const runs = { numRuns: Number(process.env.TEST_FUZZ ?? (isProof ? 150 : 50)), seed: 20_261_122 };

test('a page of arbitrary records lands, with each record either in its table as sent or in quarantine', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRecord(), { minLength: 1, maxLength: 12 }), async (records) => {
      const connectionId = await addTestConnection(warehouse);
      const good = bill('good');
      const [facts] = await land(warehouse, { connectionId, stream: 'bills', pages: [[...records, good]] });
      expect(facts?.read).toBe(records.length + 1);
      await expectLandedOrRefused(connectionId);
    }),
    runs,
  );
});

/** Expects that the table holds what Postgres itself reads from the text, and that other records are in quarantine with their text. */
async function expectLandedOrRefused(connectionId: string): Promise<void> {
  const { rows } = await warehouse.pool.query<{ id: string; total: string | null; sent: string | null }>(
    `select b.id, b.total_amount::text as total, v.payload ->> 'total_amount' as sent
     from finance.bills b
     join history.record_versions v on v.connection_id = b.connection_id and v.record_id = b.id and v.resource = 'bills'
     where b.connection_id = $1`,
    [connectionId],
  );
  expect(rows.map(({ id }) => id)).toContain('good');
  for (const { total, sent } of rows) expect(total).toBe(sent);
}

function anyRecord(): fc.Arbitrary<string> {
  const name = fc.constantFrom(...Object.keys(JSON.parse(bill('x')) as object), '__proto__', 'x');
  const fields = fc.dictionary(name, fc.oneof(fc.json(), awkward(), fc.constant(undefined)), { maxKeys: 3 });
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(fc.nat(5), fields).map(([n, some]) => bill(`b${n}`, some as Fields)) },
    { weight: 1, arbitrary: fc.json() },
    {
      weight: 1,
      arbitrary: fields.map((some) => bill('line', { line_items: list(billLine(some as Fields)) })),
    },
  );
}

/** JSON that parsers disagree about, and that no column can hold. */
function awkward(): fc.Arbitrary<string> {
  return fc.constantFrom(
    ...[
      '1e400',
      '-0',
      '0.1e-999',
      '1'.repeat(400),
      '"NaN"',
      '"Infinity"',
      '"1e5"',
      '"\\u0000"',
      '"\\ud800"',
      '"\\udfff\\ud800"',
    ],
    ...[
      '"infinity"',
      '"epoch"',
      '"now"',
      '"2024-02-30"',
      '"0001-01-01T00:00:00Z BC"',
      '"294277-01-01"',
      '"99999-01-01T00:00:00.000Z"',
    ],
    ...['[[[[]]]]', '{"a":{"a":{}}}', `"${'x'.repeat(3_000)}"`, '[null]', '[1]', '""', '"null"', 'true'],
  );
}
