import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

export type Env = Readonly<Record<string, string | undefined>>;

/** The environment, completed by a `.env` file in the working folder: what is set in the environment wins. */
export function readEnv(): Env {
  const file = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {};
  return { ...file, ...process.env };
}
