import { chmod, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../errors/code-of.ts';
import { isTrusted } from '../scripts/own-cache.mjs';

/** Another user of the machine may have put passwords, keys, or data known only to that user into the home. */
export class ForeignHome extends Error {
  override readonly name = 'ForeignHome';
  readonly isUsage = true;
}

/**
 * Throws ForeignHome unless the home and its content belong to the user that runs this or, like the volume of a container, to root. The owner of
 * either controls the passwords of the embedded Postgres and the key that seals tokens. Removes write access of others from a home of our own;
 * a home owned by root in which every user may write is refused.
 *
 * `postgresData` may belong to the account as which root runs Postgres: `postgresAccount`.
 */
export async function requireOwnHome(root: string, postgresData: string): Promise<void> {
  const uid = process.geteuid?.();
  if (uid === undefined) return;
  const home = await stat(root);
  if (!isTrusted(home.uid)) throw foreign(root, home.uid);
  if (home.uid === uid) {
    if ((home.mode & othersMayWrite) !== 0) await chmod(root, home.mode & 0o7777 & ~othersMayWrite);
  } else if ((home.mode & everybodyMayWrite) !== 0) throw openToAll(root);
  for (const name of await readdir(root)) {
    const path = join(root, name);
    if (uid === 0 && path === postgresData) continue;
    const owner = await ownerOf(path);
    if (owner !== undefined && !isTrusted(owner)) throw foreign(path, owner);
  }
}

const othersMayWrite = 0o022;
const everybodyMayWrite = 0o002;

/** Undefined if the file is gone: other Daybook processes write temporary files and rename them. */
async function ownerOf(path: string): Promise<number | undefined> {
  const found = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  return found?.uid;
}

function foreign(path: string, owner: number): ForeignHome {
  return new ForeignHome(
    `${path} belongs to another user (${owner}), who may know what is secret in it: set DAYBOOK_HOME to a folder of your own. ` +
      'If you know that it is yours, make it so: chown it to the user that runs Daybook.',
  );
}

function openToAll(root: string): ForeignHome {
  return new ForeignHome(
    `Every user may write in ${root}, which belongs to root: set DAYBOOK_HOME to a folder in it, ` +
      `such as ${root}/daybook, which is made for you alone.`,
  );
}
