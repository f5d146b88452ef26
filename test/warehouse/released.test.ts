import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { expect, test } from 'vitest';
import { checkSchema, migrate } from '../../warehouse/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { createTestDatabase } from '../support/test-database.ts';

const released = path.resolve(import.meta.dirname, '../released');
const versions = readdirSync(released).filter((name) => name.startsWith('v'));

const databases = await Promise.all(
  versions.map(async (version) => ({ version, url: (await createTestDatabase('template template0')).url })),
);

test.each(databases)(
  'a database of $version upgrades to this release and keeps its records',
  async ({ version, url }) => {
    const client = new pg.Client(url);
    await client.connect();
    await client.query(
      gunzipSync(readFileSync(path.join(released, version, 'database.sql.gz'))).toString('utf8'),
    );
    await client.end();
    const warehouse = openWarehouse({ url, connections: 2 });
    await migrate(warehouse);
    await checkSchema(warehouse);
    const { rows } = await warehouse.pool.query<{ bills: number; versions: number }>(
      `select (select count(*) from finance.bills) as bills, (select count(*) from history.record_versions) as versions`,
    );
    expect(rows[0]?.bills).toBeGreaterThan(100);
    expect(rows[0]?.versions).toBeGreaterThan(300);
    await warehouse.close();
  },
);
