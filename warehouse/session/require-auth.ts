import { withoutParameters } from './without-parameters.ts';

/** How a server may have a client log in: libpq's names for what the driver can do. `none`: it lets the client in without a password. */
export type LoginMethod = 'none' | 'password' | 'md5' | typeof scram;

const scram = 'scram-sha-256';

/** The parameter of libpq 16 and newer that names the methods a client allows. The driver of Node does not know it. */
const parameter = 'require_auth';

/** Libpq's variable for the same, for programs that get an address in parts. Older ones ignore the variable, but refuse the parameter. */
export const requireAuthVariable = 'PGREQUIREAUTH';

/**
 * Returns the address of a server that has to prove, by SCRAM, that it knows the password before it is told anything. The embedded Postgres is
 * reached this way, because everybody on the machine can take its port while it is down.
 */
export function requiringScram(url: string): string {
  const asked = new URL(url);
  asked.searchParams.set(parameter, scram);
  return asked.href;
}

/** Returns what an address requires, or undefined. If it is given several times, the last counts, as for the driver's own parameters. */
export function requireAuthOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).searchParams.getAll(parameter).at(-1) : undefined;
}

/** Returns the address for other programs: libpq before 16 refuses one with a parameter that it does not know. */
export function withoutRequireAuth(url: URL): URL {
  return withoutParameters(url, [parameter]);
}

/** Whether the method is allowed, as libpq reads it: a list of allowed methods or, with `!` before each, of those that are not. */
export function accepts(required: string | undefined, method: LoginMethod): boolean {
  if (required === undefined || required === '') return true;
  const listed = required.split(',').map((name) => name.trim());
  return listed[0]?.startsWith('!') === true ? !listed.includes(`!${method}`) : listed.includes(method);
}
