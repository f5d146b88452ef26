import { codeOf } from '../errors/code-of.ts';
import { LoginClient } from './login-client.ts';

/** Whether Postgres lets the login of a URL into its database. Other errors pass through. */
export async function opens(url: URL): Promise<boolean> {
  const client = new LoginClient({ connectionString: url.href, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (refusals.includes(String(codeOf(error)))) return false;
    throw error;
  } finally {
    await client.end();
  }
}

/** Throws when Postgres does not let a login in that was just made. */
export async function expectOpens(url: URL): Promise<void> {
  if (await opens(url)) return;
  throw new Error(
    `Postgres does not let ${url.username} in although it was just made: look at its pg_hba.conf.`,
  );
}

/** A wrong password, a login that is not let in, and one that may not connect to the database, as after a restore: it has no rights of its own then. */
const refusals: readonly string[] = ['28P01', '28000', '42501'];
