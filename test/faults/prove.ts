import { expect } from 'vitest';
import { isWholeProof } from '../support/proof-test.ts';
import { provenFaults, writeRows, type Row } from './proof-table.ts';

/** `npm run faults` kills at every point and writes the table. CI compares the table with the faults that it survived. */
export const rewriting: boolean = isWholeProof;

/** Called once the faults were survived. Expects a row for each, or writes it. */
export async function prove(...rows: readonly Row[]): Promise<void> {
  if (rewriting) await writeRows(rows);
  else expect(await provenFaults()).toEqual(expect.arrayContaining(rows.map(({ fault }) => fault)));
}
