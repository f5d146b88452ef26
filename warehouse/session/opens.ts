import { codeOf } from '../../errors/code-of.ts';
import { LoginClient } from './login-client.ts';

/** Whether Postgres lets the login of a URL into its database. Throws if it lets in another one. Other errors pass through. */
export async function opens(url: URL): Promise<boolean> {
  const client = new LoginClient({ connectionString: url.href, connectionTimeoutMillis: 10_000 });
  const login = decodeURIComponent(url.username);
  // Postgres reports this unasked. A statement might fail: whoever uses a login may set its statement_timeout.
  let letIn = login;
  client.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
    if (parameterName === 'session_authorization') letIn = parameterValue;
  });
  try {
    await client.connect();
    if (letIn !== login) throw new AnotherLetIn(login);
    return true;
  } catch (error) {
    if (refusals.includes(String(codeOf(error)))) return false;
    throw error;
  } finally {
    await client.end();
  }
}

/** Whoever got the address would log in as another role, for example the owner. */
class AnotherLetIn extends Error {
  override readonly name = 'AnotherLetIn';
  readonly handling = 'stop';

  constructor(login: string) {
    super(
      `The address of ${login} lets in another role than ${login}, so it is given to nobody: look at DATABASE_URL or DAYBOOK_DATABASE_DIRECT_URL, and at a pooler behind it.`,
    );
  }
}

interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** Throws if Postgres does not let in a login that was just created. */
export async function expectOpens(url: URL): Promise<void> {
  if (await opens(url)) return;
  throw new Error(
    `Postgres does not let ${url.username} in although it was just made: look at its pg_hba.conf.`,
  );
}

/**
 * A wrong password, a login that is not let in, and one that may not connect to the database, as after a restore, which leaves it without its rights.
 */
const refusals: readonly string[] = ['28P01', '28000', '42501'];
