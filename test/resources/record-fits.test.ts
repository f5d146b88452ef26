import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resourceNamed, resourceNames } from '../../resources/index.ts';
import { recordSchemaOf } from '../../resources/record-check.ts';
import { recordFitsOf } from '../../resources/record-fits.ts';
import * as records from '../support/finance-records.ts';
import { isProof } from '../support/proof-test.ts';

const examples: Readonly<Record<string, string>> = {
  bills: records.bill('1'),
  expenses: records.expense('1'),
  bill_credit_memos: records.billCreditMemo('1'),
  customers: records.customer('1'),
  items: records.item('1'),
  subscriptions: records.subscription('1'),
};

/** Values that may stand anywhere in a record. Undefined: the member is missing. */
const values = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    ...[
      undefined,
      '',
      'null',
      '7',
      '2024-02-29',
      '2024-02-30',
      '2024-02-29T25:00:00Z',
      '2024-02-29T10:00:00.123456Z',
    ],
    ...[
      '0000-01-01',
      '2024-01-01 00:00',
      '\ud800',
      '1e999',
      '9'.repeat(90_001),
      'x'.repeat(2_000),
      'x'.repeat(2_001),
    ],
    ...[
      'ä'.repeat(1_000),
      'ä'.repeat(1_001),
      Infinity,
      0.5,
      7,
      [{}],
      [null],
      [[]],
      ['x'],
      [{ id: 7 }],
      { id: null },
    ],
  ),
);

const edits = fc.array(fc.record({ at: fc.nat(), value: values }), { minLength: 1, maxLength: 3 });

test.each(resourceNames)(
  'the quick check of %s accepts exactly the records that the schema accepts, with any value in any place',
  (name) => {
    const resource = resourceNamed(name);
    const fits = recordFitsOf(resource);
    const schema = recordSchemaOf(resource);
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(edits, (made) => {
        const record = edited(JSON.parse(examples[name] ?? ''), made);
        const { success } = schema.safeParse(record);
        seen[success ? 'taken' : 'refused'] += 1;
        expect(fits(record)).toBe(success);
      }),
      { numRuns: isProof ? 3_000 : 1_000 },
    );
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(isProof ? 100 : 30);
  },
);

test('the quick check agrees with the schema about lists at and beyond the limit, and about values that are not records', () => {
  const resource = resourceNamed('bills');
  const lines = (count: number): unknown => ({
    ...(JSON.parse(records.bill('1')) as object),
    line_items: Array.from({ length: count }, () => ({})),
  });
  for (const record of [lines(25_000), lines(25_001), null, [], 'x', 7, undefined])
    expect(recordFitsOf(resource)(record)).toBe(recordSchemaOf(resource).safeParse(record).success);
});

/** A record with other values in some places; lists and objects count as places too. */
function edited(record: unknown, made: readonly { readonly at: number; readonly value: unknown }[]): unknown {
  for (const { at, value } of made) {
    const places = placesIn(record);
    const place = places[at % places.length];
    if (place !== undefined) place.holder[place.key] = structuredClone(value);
  }
  return record;
}

interface Place {
  readonly holder: Record<string, unknown>;
  readonly key: string;
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])]);
}
