import { createRequire } from 'node:module';
import type stringWidth from 'string-width';
import { visible, visibleInCell } from '../server/frame/visible.ts';

/** A table cell: text, a number that is shown as written, or nothing. */
export type Cell = string | number | boolean | Date | null | undefined;

/** Prints text. Nearly every text contains words of records and services, so control characters are escaped. */
export function print(text: string): void {
  process.stdout.write(`${visible(text)}\n`);
}

/** Prints everything but the command's result: progress, hints, warnings. */
export function printAside(text: string): void {
  process.stderr.write(`${visible(text)}\n`);
}

/** Prints a file for another program unchanged, but escapes it on a terminal. */
export function printFile(text: string): void {
  if (process.stdout.isTTY) print(text);
  else process.stdout.write(`${text}\n`);
}

/** `undefined` has no JSON. */
export function printJson(value: object | string | number | boolean | null): void {
  print(JSON.stringify(value, null, 2));
}

export function printTable(head: readonly string[], rows: readonly (readonly Cell[])[]): void {
  print(formatTable(head, rows));
}

/** Formats a table. Columns of numbers are right-aligned. An empty `head` adds no line. */
export function formatTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const count = rows.reduce((most, row) => Math.max(most, row.length), head.length);
  const lines = [...(head.length > 0 ? [head] : []), ...rows].map((row) =>
    Array.from({ length: count }, (_, column) => visibleInCell(shown(row[column]))),
  );
  const columns = Array.from({ length: count }, (_, column) => ({
    width: lines.reduce(
      (widest, cells) => Math.max(widest, Math.min(terminalWidth(cells[column] ?? ''), mostPadded)),
      0,
    ),
    isOfNumbers: rows.some((row) => typeof row[column] === 'number'),
  }));
  const padded = (cell: string, column: number): string => {
    const { width = 0, isOfNumbers = false } = columns[column] ?? {};
    const padding = ' '.repeat(Math.max(0, width - terminalWidth(cell)));
    return isOfNumbers ? padding + cell : cell + padding;
  };
  return lines.map((cells) => cells.map(padded).join('  ').trimEnd()).join('\n');
}

/** Limits padding: a text of a megabyte shifts its own row, but does not widen all others. */
const mostPadded = 200;

/** The width in terminal columns. */
function terminalWidth(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : wideTerminalWidth(text);
}

/** Loaded on demand: it takes 20 ms, and few commands print anything that needs it. */
let asUnicodeSays: typeof stringWidth | undefined;

function wideTerminalWidth(text: string): number {
  asUnicodeSays ??= (
    createRequire(import.meta.url)('string-width') as { readonly default: typeof stringWidth }
  ).default;
  return asUnicodeSays(text);
}

export function shown(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) return cell.toISOString().replace(/\.000Z$/, 'Z');
  return typeof cell === 'number' ? cell.toLocaleString('en-US') : String(cell);
}
