import { createRequire } from 'node:module';
import type stringWidth from 'string-width';
import { visible, visibleInCell } from '../server/frame/visible.ts';

/** A cell: text, a number that is shown as written, or nothing. */
export type Cell = string | number | boolean | Date | null | undefined;

/** What records and services say is part of nearly every text, so none of it commands the terminal. */
export function print(text: string): void {
  process.stdout.write(`${visible(text)}\n`);
}

/** For what is not the command's result: progress, hints, warnings. */
export function printAside(text: string): void {
  process.stderr.write(`${visible(text)}\n`);
}

/** A file for another program: as it is, unless a terminal would read it. */
export function printFile(text: string): void {
  if (process.stdout.isTTY) print(text);
  else process.stdout.write(`${text}\n`);
}

/** There is no JSON of `undefined`. */
export function printJson(value: object | string | number | boolean | null): void {
  print(JSON.stringify(value, null, 2));
}

export function printTable(head: readonly string[], rows: readonly (readonly Cell[])[]): void {
  print(tableOf(head, rows));
}

/** Columns of numbers are aligned to the right. Without names of columns there is no line for them. */
export function tableOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const count = rows.reduce((most, row) => Math.max(most, row.length), head.length);
  const lines = [...(head.length > 0 ? [head] : []), ...rows].map((row) =>
    Array.from({ length: count }, (_, column) => visibleInCell(shown(row[column]))),
  );
  const columns = Array.from({ length: count }, (_, column) => ({
    width: lines.reduce(
      (widest, cells) => Math.max(widest, Math.min(widthOf(cells[column] ?? ''), mostPadded)),
      0,
    ),
    isOfNumbers: rows.some((row) => typeof row[column] === 'number'),
  }));
  const padded = (cell: string, column: number): string => {
    const { width = 0, isOfNumbers = false } = columns[column] ?? {};
    const padding = ' '.repeat(Math.max(0, width - widthOf(cell)));
    return isOfNumbers ? padding + cell : cell + padding;
  };
  return lines.map((cells) => cells.map(padded).join('  ').trimEnd()).join('\n');
}

/** One text of a megabyte does not widen every row by as much: it moves what follows it. */
const mostPadded = 200;

/** In columns of a terminal. */
function widthOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : wideWidthOf(text);
}

/** It takes 20 ms to load, and few commands print anything that needs it. */
let asUnicodeSays: typeof stringWidth | undefined;

function wideWidthOf(text: string): number {
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
