import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardedColumn, unguarded } from '../../marts/formula-guard.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();
const duckDb = await (await DuckDBInstance.create(':memory:')).connect();
const texts = [
  '=1+1',
  '+49 30',
  '-2',
  '@x',
  '\t=1',
  '\r=1',
  '\n=1',
  '＝1',
  '＠x',
  ' =1',
  '\u00a0=1',
  '\u3000+1',
  `' =1`,
  ` '=1`,
  `'=1`,
  `''-1`,
  'plain',
  `O'Neil`,
  '',
  'a=b',
  'a,"=b',
];

test('a template has no cell that a spreadsheet runs, and reads back as the original names, on both engines', async () => {
  for (const text of texts) {
    const [postgres] = (
      await warehouse.pool.query(`select ${guardedColumn('x')} from (select $1::text as x) t`, [text])
    ).rows as { x: string }[];
    const lake = (
      await duckDb.runAndReadAll(`select ${guardedColumn('x')} from (select $1 as x)`, [text])
    ).getRows()[0]?.[0];
    expect(lake).toBe(postgres?.x);
    expect(postgres?.x).not.toMatch(/^\s*[=+\-@＝＋－＠\t\n\r]/);
    expect(unguarded(formatCsv([postgres?.x ?? '']))).toBe(formatCsv([text]));
  }
});

test('the unguard step splits fields by commas, quotes and line ends, and changes nothing else in a file', () => {
  expect(unguarded(`id,name\n'=1,"'=a, '=b ""'=c"\r\nx,'plain\n`)).toBe(
    `id,name\n=1,"=a, '=b ""'=c"\r\nx,'plain\n`,
  );
  const field = fc.oneof(fc.constantFrom(...texts), fc.string());
  fc.assert(
    fc.property(fc.array(field, { minLength: 1 }), (row) => {
      const guarded = row.map((text) =>
        /^['\s]*[=+\-@＝＋－＠]|^['\s]*?[\t\n\r]/.test(text) ? `'${text}` : text,
      );
      expect(unguarded(formatCsv(guarded))).toBe(formatCsv(row));
    }),
  );
});

function formatCsv(row: readonly string[]): string {
  return `${row.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(',')}\n`;
}
