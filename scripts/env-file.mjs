import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/**
 * Reads the `.env` file in the working folder; variables of the environment take precedence. Empty if there is no file. Uses only Node,
 * because `npm start` runs it before the packages are installed.
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
