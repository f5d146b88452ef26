import pg from 'pg';
import type { PlantedInstallation } from './planted-installation.ts';
import { secrets } from './planted.ts';

/** Makes runs fail in ways that the database and the key can cause. */
export async function provokeFailures(installation: PlantedInstallation): Promise<void> {
  const { daybook } = installation;
  await whileRefusingRecords(installation, () => daybook([['reconcile', 'acme', '--resource', 'customers']]));
  await daybook([['connection', 'rotate-key', '--new-key-env', 'NEW_KEY']], {
    NEW_KEY: secrets.nextSecretKey.toString('base64'),
  });
  await daybook([['sync', 'acme', '--no-wait']], {
    DAYBOOK_SECRET_KEY: secrets.nextSecretKey.toString('base64'),
  });
  await installation.up.waitForOutput(/KeyRotated/);
}

/** Makes Postgres refuse records with a message that quotes the row, while `act` runs. The product retries until the record may land. */
async function whileRefusingRecords(
  { adminUrl, up }: PlantedInstallation,
  act: () => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client(adminUrl);
  await client.connect();
  await client.query(`delete from finance.customers where id = 'somebody'`);
  await client.query(`alter table finance.customers add constraint refused check (id <> 'somebody')`);
  const acted = act();
  await up.waitForOutput(/"type":"Unexpected"/);
  await client.query('alter table finance.customers drop constraint refused');
  await client.end();
  await acted;
}
