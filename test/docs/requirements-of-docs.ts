import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What docs/connect says was run with, as pip writes it. */
export function requirementsOfDocs(): string[] {
  const file = readFileSync(join(import.meta.dirname, 'connect-requirements.txt'), 'utf8');
  return file.split('\n').filter((line) => /^\w/.test(line));
}
