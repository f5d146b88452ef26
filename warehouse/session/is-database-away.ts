import { codeOf } from '../../errors/code-of.ts';
import { isOurs } from '../../errors/is-ours.ts';
import { ServerUnproven } from './server-unproven.ts';

/**
 * Postgres cannot be reached, shuts down, starts up, or may not be written to: classes 08, 53 and 57P of its errors, what the
 * network says, and what the driver says, which has no codes.
 */
export function isDatabaseAway(error: unknown): error is Error {
  // Errors of the service carry codes of the network too; they say of themselves what to do.
  if (!(error instanceof Error) || isOurs(error)) return false;
  return awayCode.test(String(codeOf(error))) || awayMessage.test(error.message);
}

/** The server of a session, or the session, may not write: a standby. */
export function isReadOnly(error: unknown): error is Error {
  return error instanceof Error && codeOf(error) === '25006';
}

/** Why Postgres answers and writes nothing, in words; undefined when that is not what failed. */
export function whyUnwritable(error: unknown): string | undefined {
  return error instanceof Error ? unwritable[codeOf(error) ?? ''] : undefined;
}

/** Why Postgres does not answer, by code: a driver's message may say where the database is. */
export function whyAway(error: Error): string {
  if (error instanceof ServerUnproven) return 'what has its port does not prove that it is this Postgres';
  const code = codeOf(error);
  return code === '53300' ? 'it has no connection left' : String(code ?? 'no connection');
}

const awayCode =
  /^(08|53|57P|25006)|^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/;
const awayMessage =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

const unwritable: Partial<Record<string, string>> = {
  '53100': 'its disk is full',
  '25006': 'it is read-only',
};
