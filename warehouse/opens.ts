import pg from 'pg';
import { codeOf } from '../errors/code-of.ts';

/** Whether Postgres lets the login of a URL in. Other errors pass through. */
export async function opens(url: URL): Promise<boolean> {
  const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (codeOf(error) === invalidPassword || codeOf(error) === invalidAuthorization) return false;
    throw error;
  } finally {
    await client.end();
  }
}

const invalidPassword = '28P01';
const invalidAuthorization = '28000';
