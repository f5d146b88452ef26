import { appendFile, readFile } from 'node:fs/promises';
import type { Caught } from './check-copy.ts';
import type { MutantLocation } from './mutant.ts';

/** The outcome of a mutant. */
export interface Result extends MutantLocation {
  /** Null: nothing failed. */
  readonly caught: Caught | null;
  readonly seconds: number;
}

/** Reads the results of earlier runs, one per line, so that an interrupted run continues where it was. */
export async function readResults(path: string): Promise<Result[]> {
  let lines: string;
  try {
    lines = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
  // The last line of a killed run may be incomplete.
  const whole = lines.slice(0, lines.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Result);
}

export async function addResult(path: string, result: Result): Promise<void> {
  await appendFile(path, `${JSON.stringify(result)}\n`);
}
