import Table from 'cli-table3';
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
  if (process.stdout.isTTY) print(text.replaceAll('\r\n', '\n'));
  else process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

export function printTable(head: readonly string[], rows: readonly (readonly Cell[])[]): void {
  print(tableOf(head, rows));
}

/** Columns of numbers are aligned to the right. */
export function tableOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const table = new Table({
    head: head.map(visibleInCell),
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 2 },
    chars: noBorders,
    colAligns: head.map((_, column) =>
      rows.some((row) => typeof row[column] === 'number') ? 'right' : 'left',
    ),
  });
  table.push(...rows.map((row) => row.map((cell) => visibleInCell(shown(cell)))));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

export function shown(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) return cell.toISOString().replace(/\.000Z$/, 'Z');
  return typeof cell === 'number' ? cell.toLocaleString('en-US') : String(cell);
}

const noBorders = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
    'middle',
  ].map((name) => [name, '']),
);
