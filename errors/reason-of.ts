import { codeOf } from './code-of.ts';

/**
 * Returns a one-line reason for a log, with the error's cause. If Postgres refused a value (SQLSTATE classes 22 and 23), its message may quote a
 * record, so only the code is returned.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  if ('severity' in error && typeof code === 'string' && /^2[23]/.test(code))
    return `Postgres refused a value (SQLSTATE ${code})`;
  return error.cause instanceof Error ? `${error.message}: ${reasonOf(error.cause)}` : error.message;
}
