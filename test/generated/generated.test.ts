import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { generatedFiles } from './generated-files.ts';

test.each(Object.entries(generatedFiles))(
  '%s is up to date with its sources ("npm run generate" writes it)',
  async (path, make) => {
    expect(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')).toBe(make());
  },
);
