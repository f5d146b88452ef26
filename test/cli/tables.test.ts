import { expect, test } from 'vitest';
import { formatTable } from '../../cli/printer.ts';

test('columns are aligned whatever their content, and numbers are aligned right', () => {
  const table = formatTable(
    ['name', 'rows', 'why'],
    [
      ['日本', 1234, 'a\nb'],
      ['e\u0301 long', 5, null],
      ['', undefined, 'plain'],
    ],
  );
  expect(table.split('\n')).toEqual([
    'name     rows  why',
    '日本    1,234  a\\nb',
    'e\u0301 long      5',
    '               plain',
  ]);
});

test('a table without column names has only its rows', () => {
  expect(
    formatTable(
      [],
      [
        ['a', 'long'],
        ['bc', 'd'],
      ],
    ),
  ).toBe('a   long\nbc  d');
});

test('a long text shifts only its own row and widens no other', () => {
  const rows = [
    ['x'.repeat(1_000_000), 'a'],
    ['y', 'b'],
  ];
  expect(formatTable(['text', 'row'], rows).length).toBeLessThan(1_001_000);
});

test('a table of 20,000 rows is laid out within seconds', () => {
  const rows = Array.from({ length: 20_000 }, (_, row) => [`entry-${row}`, row, 'a reason']);
  const started = performance.now();
  expect(formatTable(['entry', 'row', 'reason'], rows).split('\n')).toHaveLength(20_001);
  // Comparing each row with all others would take two minutes.
  expect(performance.now() - started).toBeLessThan(5_000);
});
