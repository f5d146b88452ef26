import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The requirements with which docs/connect was run, in pip's format. */
export function requirementsOfDocs(): string[] {
  const file = readFileSync(join(import.meta.dirname, 'connect-requirements.txt'), 'utf8');
  return file.split('\n').filter((line) => /^\w/.test(line));
}
