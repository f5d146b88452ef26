import { readFile } from 'node:fs/promises';
import { z } from 'zod';

/** The folders from which the product is built, as listed in `tsconfig.build.json`, relative to the root. */
export async function productFolders(): Promise<readonly string[]> {
  const text = await readFile(new URL('../../tsconfig.build.json', import.meta.url), 'utf8');
  return z.object({ include: z.array(z.string()) }).parse(JSON.parse(text)).include;
}
