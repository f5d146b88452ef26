import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Home } from './home.ts';
import { createPrivateFile } from './private-file.ts';
import { readFileIfThere } from './read-file-if-there.ts';

/** The key (32 bytes, base64) that encrypts access tokens; made on the first start of a home, mode 0600. */
export async function embeddedSecretKey(home: Home): Promise<string> {
  const key = (await readFileIfThere(home.secretKeyFile)) ?? (await makeKey(home.secretKeyFile));
  if (Buffer.from(key.trim(), 'base64').length !== 32) {
    throw new Error(
      `The key in ${home.secretKeyFile} is not 32 bytes in base64; put the original file back, or the stored access tokens cannot be read.`,
    );
  }
  return key.trim();
}

async function makeKey(path: string): Promise<string> {
  await createPrivateFile(path, `${randomBytes(32).toString('base64')}\n`);
  return readFile(path, 'utf8'); // Another process may have been first: the file decides.
}
