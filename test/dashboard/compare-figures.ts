import { expect } from 'vitest';
import type { Shown } from './shown.ts';

/** Checks that a chart shows exactly what its statement read, and that its bars are those figures. */
export function compareFigures(shown: Shown, rows: readonly Record<string, unknown>[], where: string): void {
  const read = new Set(rows.flatMap((row) => Object.values(row).map(plain)));
  const cells = shown.rows.flat().map(plain);
  const texts = new Set([...cells, ...[shown.sentence, shown.gap, ...shown.rows.flat()].flatMap(amountsIn)]);
  const numbers = new Set([...read].map(Number));
  const bars = shown.series.flatMap(({ data }) => data);
  expect(
    {
      shownNotRead: cells.filter((text) => isAmount(text) && !read.has(text)),
      readNotShown: rows.flatMap(amountsOf).filter((text) => !texts.has(text)),
      drawnNotRead: bars.filter((value) => value !== null && value !== 0 && !numbers.has(value)),
    },
    where,
  ).toEqual({ shownNotRead: [], readNotShown: [], drawnNotRead: [] });
  if (rows.length > 0) expect(shown.rows.length, where).toBeGreaterThan(0);
}

/** Drops separators and trailing zeros: 1,200.50 and 1200.500000000 are one amount. */
function plain(value: unknown): string {
  const text = String(value).replaceAll(',', '');
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text;
}

/** Numbers other than 0. */
function isAmount(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text) && /[1-9]/.test(text);
}

function amountsIn(text: string): string[] {
  return [...text.matchAll(/-?\d[\d,]*(\.\d+)?/g)].map(([amount]) => plain(amount));
}

/** The decimals of a row, without the overdue amount, which is part of another. */
function amountsOf(row: Record<string, unknown>): string[] {
  const decimals = Object.entries(row).filter(
    ([name, value]) => name !== 'overdue' && /^-?\d+\.\d+$/.test(String(value)),
  );
  return decimals.map(([, value]) => plain(value)).filter(isAmount);
}
