import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../embedded/free-port.ts';
import { startPostgres } from '../../embedded/postgres.ts';

/** Restarts the Postgres of a test run that has ended, and prints how to open the databases that failed tests left in it. */
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Say which folder: the failed test printed it.');

const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), port: await freePort() });
const client = new pg.Client({ connectionString: postgres.adminUrl });
await client.connect();
const { rows } = await client.query<{ datname: string }>(
  `select datname from pg_database where datname like 'test\\_%'`,
);
await client.end();
for (const { datname } of rows) {
  process.stdout.write(`psql ${postgres.url.replace(/daybook$/, datname)}\n`);
}
process.stdout.write(`Ctrl-C stops it; then remove ${folder}.\n`);
await once(process, 'SIGINT');
await postgres.stop();
