import { codeOf } from '../../errors/code-of.ts';
import { isOurs } from '../../errors/is-ours.ts';
import { ServerUnproven } from './server-unproven.ts';

/**
 * Whether Postgres cannot be reached, shuts down, starts up, or may not be written to: its error classes 08, 53 and 57P, errors of the network, and
 * those of the driver, which have no codes.
 */
export function isDatabaseAway(error: unknown): error is Error {
  // Errors about the service carry codes of the network too, but say themselves how to handle them.
  if (!(error instanceof Error) || isOurs(error)) return false;
  return awayCode.test(String(codeOf(error))) || awayMessage.test(error.message);
}

/** Whether the server of a session, or the session, may not write: a standby. */
export function isReadOnly(error: unknown): error is Error {
  return error instanceof Error && codeOf(error) === '25006';
}

/** Returns why Postgres answers but writes nothing, in words; undefined if that is not what failed. */
export function whyUnwritable(error: unknown): string | undefined {
  return error instanceof Error ? unwritable[codeOf(error) ?? ''] : undefined;
}

/** Returns why Postgres does not answer, by code, because a driver's message may reveal where the database is. */
export function whyAway(error: Error): string {
  if (error instanceof ServerUnproven) return 'what has its port does not prove that it is this Postgres';
  const code = codeOf(error);
  return code === '53300' ? 'it has no connection left' : String(code ?? 'no connection');
}

const awayCode =
  /^(08|53|57P|25006)|^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/;
const awayMessage =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired$|Client has encountered a connection error)/;

const unwritable: Partial<Record<string, string>> = {
  '53100': 'its disk is full',
  '25006': 'it is read-only',
};
