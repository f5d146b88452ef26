import fc from 'fast-check';
import { expect, test } from 'vitest';
import { microsecondsOf } from '../../resources/instant.ts';
import { isProof } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

/** Times in ISO 8601 and slightly beyond it, with the rare end of the day (24:00) more often. */
const times = fc.stringMatching(
  /^(00|19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([Tt ]([012]\d:[0-6]\d|24:00)(:[0-6]\d)?([.,]\d{1,6})?([Zz]|[+-][01]\d(:?[0-6]\d)?)?)?$/,
);

test('a text that counts as a moment is the same moment to Postgres, to the microsecond', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(times, { minLength: 300, maxLength: 300 }), async (texts) => {
      const moments = texts.filter((text) => microsecondsOf(text) !== undefined);
      const read = await rows(
        warehouse,
        `select (extract(epoch from text::timestamptz) * 1000000)::bigint as microseconds from unnest($1::text[]) as text`,
        [moments],
      );
      expect(read.map(({ microseconds }) => Number(microseconds))).toEqual(moments.map(microsecondsOf));
    }),
    { numRuns: isProof ? 40 : 10 },
  );
});
