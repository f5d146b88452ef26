import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { codeOf } from '../errors/code-of.ts';
import type { Home } from './home.ts';
import { createPrivateFile, readPrivateFile } from './private-file.ts';

/** Returns the key (32 bytes) that encrypts access tokens. It is created at the first start of a home, in base64, with mode 0600. */
export function embeddedSecretKey(home: Home): Promise<Buffer> {
  return keyIn(home.secretKeyFile);
}

/**
 * Returns the next key: one that a rotation left, or a new one. It is stored in a file before anything is sealed with it,
 * so both keys exist whenever a rotation is interrupted.
 */
export function nextSecretKey(home: Home): Promise<Buffer> {
  return keyIn(nextKeyFile(home));
}

/** Makes the next key the current one, atomically. */
export async function adoptNextSecretKey(home: Home): Promise<void> {
  try {
    await rename(nextKeyFile(home), home.secretKeyFile);
  } catch (error) {
    // Another process did the same at the same moment.
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

async function keyIn(path: string): Promise<Buffer> {
  const text = (await readPrivateFile(path)) ?? (await makeKey(path));
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== 32) {
    throw new Error(
      `The key in ${path} is not 32 bytes in base64; put the original file back, or the stored access tokens cannot be read.`,
    );
  }
  return key;
}

async function makeKey(path: string): Promise<string> {
  await createPrivateFile(path, `${randomBytes(32).toString('base64')}\n`);
  return (await readPrivateFile(path)) ?? ''; // Another process may have been first, so the file decides.
}

function nextKeyFile(home: Home): string {
  return `${home.secretKeyFile}.next`;
}
