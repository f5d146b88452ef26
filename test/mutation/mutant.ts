import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Edit } from './edit.ts';
import { findEdits } from './find-edits.ts';

/** A mistake in a file of the product. */
export interface Mutant {
  readonly file: string;
  /** The file without the mistake. */
  readonly text: string;
  readonly edit: Edit;
}

/** Identifies a mutant, for people and in the results. */
export interface MutantLocation {
  /** Depends on the content of the file. */
  readonly key: string;
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

export async function mutantsIn(folder: string): Promise<Mutant[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ts')).sort();
  const mutants = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      const text = await readFile(file, 'utf8');
      return findEdits(text).map((edit) => ({ file, text, edit }));
    }),
  );
  return mutants.flat();
}

export function locateMutant({ file, text, edit }: Mutant): MutantLocation {
  const { rule, start, end, to } = edit;
  const key = createHash('sha256')
    .update(JSON.stringify([file, text, start, end, to]))
    .digest('hex');
  return { key, file, line: text.slice(0, start).split('\n').length, rule, from: text.slice(start, end), to };
}
