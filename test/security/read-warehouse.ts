import pg from 'pg';
import type { Place } from './find-planted.ts';

/**
 * Reads every table of a database as text, one place each. `ledger` has the tables about runs, without the columns made to keep what the
 * service sent.
 */
export async function readWarehouse(adminUrl: string): Promise<{ all: Place[]; ledger: Place[] }> {
  const client = new pg.Client(adminUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    const all: Place[] = [];
    const ledger: Place[] = [];
    for (const { name } of rows) {
      all.push({ name, content: await readText(client, 't', name) });
      if (name.startsWith('sync.'))
        ledger.push({ name, content: await readText(client, `to_jsonb(t) - 'payload'`, name) });
    }
    return { all, ledger };
  } finally {
    await client.end();
  }
}

async function readText(client: pg.Client, expression: string, table: string): Promise<string> {
  const statement = `select string_agg((${expression})::text, chr(10)) as text from ${table} t`;
  const { rows } = await client.query<{ text: string | null }>(statement);
  return rows[0]?.text ?? '';
}
