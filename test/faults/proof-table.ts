import { readFile, writeFile } from 'node:fs/promises';
import { formatTableCell } from '../support/format-table-cell.ts';

/** A row of the table in `docs/proof.md`. */
export interface Row {
  readonly fault: string;
  readonly during: string;
  readonly survived: string;
  /** The message of Daybook that a user saw. */
  readonly seen: string;
}

const file = new URL('../../docs/proof.md', import.meta.url);
const table = /<!-- faults -->\n[^]*<!-- \/faults -->/;
const head = '| Fault | During | Survived | What the user sees |\n| --- | --- | --- | --- |\n';

/** The faults that have a row. */
export async function provenFaults(): Promise<string[]> {
  return [...(await rowsByFault()).keys()];
}

/** Adds or replaces rows. */
export async function writeRows(rows: readonly Row[]): Promise<void> {
  const lines = await rowsByFault();
  for (const { fault, during, survived, seen } of rows)
    lines.set(fault, `| ${[fault, during, survived, formatTableCell(seen)].join(' | ')} |`);
  const sorted = [...lines].sort(([one], [other]) => (one < other ? -1 : 1));
  const text = await readFile(file, 'utf8');
  const body = sorted.map(([, line]) => `${line}\n`).join('');
  await writeFile(
    file,
    text.replace(table, () => `<!-- faults -->\n\n${head}${body}\n<!-- /faults -->`),
  );
}

async function rowsByFault(): Promise<Map<string, string>> {
  const [found = ''] = table.exec(await readFile(file, 'utf8')) ?? [];
  const lines = found.split('\n').filter((line) => line.startsWith('| ') && !head.includes(line));
  return new Map(lines.map((line) => [line.split(' | ')[0]?.slice(2) ?? '', line]));
}
