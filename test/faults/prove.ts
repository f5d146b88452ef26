import { expect } from 'vitest';
import { isWholeProof } from '../support/proof-test.ts';
import { provenFaults, writeRows, type Row } from './proof-table.ts';

/** `npm run faults` kills everybody everywhere and writes the table; CI holds the table to what it has seen. */
export const rewriting: boolean = isWholeProof;

/** Called once the faults were survived: each has its row, or gets it. */
export async function prove(...rows: readonly Row[]): Promise<void> {
  if (rewriting) await writeRows(rows);
  else expect(await provenFaults()).toEqual(expect.arrayContaining(rows.map(({ fault }) => fault)));
}
