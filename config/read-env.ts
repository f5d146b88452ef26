import { readEnvFile } from '../scripts/env-file.mjs';
import { ConfigurationError } from './configuration-error.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** Reads the environment, completed by a `.env` file in the working folder; the environment has precedence. Throws ConfigurationError. */
export function readEnv(): Env {
  try {
    return { ...readEnvFile(), ...process.env };
  } catch (error) {
    throw error instanceof Error ? new ConfigurationError([error.message]) : error;
  }
}
