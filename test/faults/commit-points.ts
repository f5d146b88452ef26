import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { productFolders } from '../support/product-folders.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Files of the product that open transactions only to read. */
const readers = [
  'warehouse/connections/count-records.ts',
  'warehouse/readers/readers-state.ts',
  'warehouse/session/check-pooler.ts',
];
/** Files that commit on behalf of others, or before there is anything to lose. */
const notTheirOwn = [
  'warehouse/transactions/in-transaction.ts',
  'warehouse/transactions/taking-locks.ts',
  'warehouse/schema/migrate.ts',
  'warehouse/schema/build-index.ts',
  'warehouse/readers/make-login.ts',
];

/** Paths, from the root, of the product's files that commit their own writes. */
export async function committingFiles(): Promise<string[]> {
  const names = await Promise.all(
    (await productFolders()).map(async (folder) => {
      const files = await readdir(join(root, folder), { recursive: true });
      return files.map((file) => `${folder}/${file}`);
    }),
  );
  const sources = names
    .flat()
    .filter((file) => file.endsWith('.ts') && !file.includes('/migrations/'))
    .filter((file) => ![...readers, ...notTheirOwn].includes(file));
  const found = await Promise.all(
    sources.map(async (file) => ({ file, text: await readFile(join(root, file), 'utf8') })),
  );
  return found.filter(({ text }) => commits(text)).map(({ file }) => file);
}

function commits(source: string): boolean {
  return /\b(inTransaction|takingLocks)\(|query\('commit'\)/.test(source) && !/\bread only\b/.test(source);
}
