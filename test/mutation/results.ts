import { appendFile, readFile } from 'node:fs/promises';
import type { Caught } from './check-copy.ts';
import type { Place } from './mutant.ts';

/** What became of a mutant. */
export interface Result extends Place {
  /** Null: nothing failed. */
  readonly caught: Caught | null;
  readonly seconds: number;
}

/** Results of earlier runs, one a line: a run that was ended goes on where it was. */
export async function readResults(path: string): Promise<Result[]> {
  let lines: string;
  try {
    lines = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
  // The last line of a run that was killed may be half a one.
  const whole = lines.slice(0, lines.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Result);
}

export async function addResult(path: string, result: Result): Promise<void> {
  await appendFile(path, `${JSON.stringify(result)}\n`);
}
