import { readFileSync } from 'node:fs';
import { codeOf } from '../errors/code-of.ts';

/** Names each file of a database URL that the driver would fail to read: its parameter, the path where that is no secret, and the error's code. */
export function unreadableFiles(databaseUrl: string): string[] {
  if (!URL.canParse(databaseUrl)) return [];
  const { searchParams } = new URL(databaseUrl);
  return ['sslrootcert', 'sslcert', 'sslkey'].flatMap((parameter) => {
    // If a parameter is repeated, the driver uses the last.
    const path = searchParams.getAll(parameter).at(-1) ?? '';
    const code = path === '' ? undefined : codeOfReading(path);
    if (code === undefined) return [];
    // In place of the path of its own certificate or key, somebody may have pasted the key itself.
    const named = parameter === 'sslrootcert' ? `${parameter}=${path}` : `the one of ${parameter}`;
    return [`${named} (${code})`];
  });
}

function codeOfReading(path: string): string | undefined {
  try {
    readFileSync(path);
    return undefined;
  } catch (error) {
    return String(codeOf(error) ?? 'unreadable');
  }
}
