import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** Clones the migrated database `daybook` on the server at that address. Returns the address of the unused clone. */
export async function cloneDatabase(server: {
  readonly url: string;
  readonly adminUrl: string;
}): Promise<string> {
  const name = `simulation_${randomBytes(4).toString('hex')}`;
  const client = new pg.Client({ connectionString: server.adminUrl });
  await client.connect();
  try {
    await client.query(`create database ${name} owner daybook template daybook strategy file_copy`);
  } finally {
    await client.end();
  }
  const url = new URL(server.url);
  url.pathname = name;
  return url.href;
}
