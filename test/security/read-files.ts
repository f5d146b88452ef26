import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { readParquet } from '../lake/read-parquet.ts';
import type { Place } from './find-planted.ts';

/** Reads every file below a folder, or one file, with compressed columns unpacked. `isPrivate`: only the owner can read it. */
export async function readFiles(path: string): Promise<(Place & { isPrivate: boolean })[]> {
  const isFolder = (await stat(path)).isDirectory();
  const entries = isFolder ? await readdir(path, { recursive: true, withFileTypes: true }) : [];
  const below = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    (isFolder ? below : [path]).map(async (file) => {
      return {
        name: relative(dirname(path), file),
        content: file.endsWith('.parquet') ? await readRows(file) : await readFile(file),
        isPrivate: ((await stat(file)).mode & 0o077) === 0,
      };
    }),
  );
}

async function readRows(file: string): Promise<string> {
  const rows = await readParquet(file, `select r::varchar as text from read_parquet('{lake}') as r`);
  return rows.map(({ text }) => text).join('\n');
}
