import { ConfigurationError } from '../config/configuration-error.ts';
import { codeOf } from '../errors/code-of.ts';
import { isDatabaseAway, whyAway } from '../warehouse/session/is-database-away.ts';
import { ServerUnproven } from '../warehouse/session/server-unproven.ts';

/** Returns an error for people: one sentence, or the stack if `verbose`. */
export function explain(error: unknown, { verbose }: { verbose: boolean }): string {
  if (verbose && error instanceof Error) return error.stack ?? error.message;
  if (error instanceof ConfigurationError) return `The configuration cannot work:\n${error.message}`;
  if (!(error instanceof Error)) return String(error);
  return driverSentence(error) ?? error.message;
}

/** Returns our own sentence for a driver's error. */
function driverSentence(error: Error): string | undefined {
  const code = String(codeOf(error) ?? '');
  if (code === 'EADDRINUSE') {
    const [, address = 'The address'] = /in use (\S+)$/.exec(error.message) ?? [];
    return `${address} is in use: stop what listens there, or choose another port.`;
  }
  if (code === '53300') return noConnectionLeft;
  if (code === '28P01' || code === '28000')
    return 'Postgres refused the user or the password: check DATABASE_URL.';
  if (code === '3D000') return 'Postgres has no database of that name: create it, or check DATABASE_URL.';
  const [, refused] = /^unsupported startup parameter(?: in options)?: (\S+)/.exec(error.message) ?? [];
  if (refused !== undefined)
    return `The pooler refuses the parameter ${refused}: take it out of DATABASE_URL, and set it for the role with "alter role … set".`;
  if (code === '42P05' || code === '26000')
    return 'A pooler mixes up the prepared statements of its clients: "npx daybook doctor" says what to do.';
  if (!isDatabaseAway(error) || answers.test(code) || error instanceof ServerUnproven) return undefined;
  const why = code.startsWith('57P') ? error.message : whyAway(error);
  return `The database does not answer (${why}): check DATABASE_URL, or start "npx daybook up" if it is the embedded one.`;
}

/** Errors of a full disk, a standby, and a pooler that lets nobody in: their own messages say it best. */
const answers = /^(53|25006|08P01)/;

/** The limit may be that of the server, the role or the database: the code is the same. */
const noConnectionLeft =
  'Postgres has no connection left: end clients that are not needed (pg_stat_activity lists those that have logged in), or raise ' +
  'max_connections, or the limit of the role or the database. The embedded Postgres ends those that do not log in after 10 s: try ' +
  'again, and if it stays so, see who holds its port ("ss -tnp" as root).';
