import pg from 'pg';

/** Drops databases that test files kept because a test failed: after a mistake, nobody looks into them. */
export async function dropTestDatabases(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select datname as name from pg_database where datname ~ '^(test|simulation)_'`,
    );
    for (const { name } of rows) await client.query(`drop database if exists ${name} with (force)`);
  } finally {
    await client.end();
  }
}
