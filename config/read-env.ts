import { readEnvFile } from '../scripts/env-file.mjs';
import { ConfigurationError } from './configuration-error.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The environment, completed by a `.env` file in the working folder: what is set in the environment wins. Throws ConfigurationError. */
export function readEnv(): Env {
  try {
    return { ...readEnvFile(), ...process.env };
  } catch (error) {
    throw error instanceof Error ? new ConfigurationError([error.message]) : error;
  }
}
