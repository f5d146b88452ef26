import pg from 'pg';

/**
 * Makes the role `daybook` (no superuser; may create roles, for `daybook_reader`) and its database where they are missing.
 * Returns undefined while the server does not take connections yet.
 */
export async function prepareDatabase(adminUrl: string, password: string): Promise<'ready' | undefined> {
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 5000 });
  try {
    await client.connect();
  } catch (error) {
    if (isNotYet(error)) return undefined;
    throw error;
  }
  try {
    const { rows } = await client.query<{ role: boolean; database: boolean }>(
      `select exists (select from pg_roles where rolname = 'daybook') as role,
              exists (select from pg_database where datname = 'daybook') as database`,
    );
    if (rows[0]?.role !== true) {
      await client.query(`create role daybook login createrole password ${client.escapeLiteral(password)}`);
    }
    if (rows[0]?.database !== true) await client.query('create database daybook owner daybook');
    return 'ready';
  } finally {
    await client.end();
  }
}

/** Nobody listens yet, or the server says that it is still starting up (57P03), perhaps recovering from a crash. */
function isNotYet(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    ['ECONNREFUSED', 'ECONNRESET', '57P03'].includes(String(error.code))
  );
}
