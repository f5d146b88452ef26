import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/**
 * What the `.env` file in the working folder sets; the environment itself wins over it. Nothing where there is none. Uses nothing but
 * Node, for `npm start` reads it before there are packages.
 *
 * @returns {Record<string, string | undefined>}
 */
export function readEnvFile() {
  if (!existsSync('.env')) return {};
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    const unreadable = new Error(
      `.env cannot be read (${error.code}): it must be a file that this user may read.`,
      { cause: error },
    );
    throw Object.assign(unreadable, { exitCode: 2 });
  }
}
