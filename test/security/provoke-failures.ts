import pg from 'pg';
import type { PlantedWorld } from './planted-world.ts';
import { secrets } from './planted.ts';

/** Makes runs fail in ways that the database and the key can cause. */
export async function provokeFailures(world: PlantedWorld): Promise<void> {
  const { daybook } = world;
  await whileRefusingRecords(world, () => daybook([['reconcile', 'acme', '--resource', 'customers']]));
  await daybook([['connection', 'rotate-key', '--new-key-env', 'NEW_KEY']], {
    NEW_KEY: secrets.nextSecretKey.toString('base64'),
  });
  await daybook([['sync', 'acme', '--no-wait']], {
    DAYBOOK_SECRET_KEY: secrets.nextSecretKey.toString('base64'),
  });
  await world.up.says(/KeyRotated/);
}

/** Makes Postgres refuse records with a message that quotes the row, while `act` runs. The product retries until the record may land. */
async function whileRefusingRecords(
  { adminUrl, up }: PlantedWorld,
  act: () => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client(adminUrl);
  await client.connect();
  await client.query(`delete from finance.customers where id = 'somebody'`);
  await client.query(`alter table finance.customers add constraint refused check (id <> 'somebody')`);
  const acted = act();
  await up.says(/"type":"Unexpected"/);
  await client.query('alter table finance.customers drop constraint refused');
  await client.end();
  await acted;
}
