import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { libpqAddress } from '../python/libpq-address.ts';
import { trustedAuthorities } from '../python/trusted-authorities.ts';
import { SparkRefused } from './errors.ts';
import { buildLockSetting } from './spark-namespaces.ts';

/**
 * Returns the address of a Postgres for the JDBC driver, reached the way libpq reaches it, with no weaker verification. The password is in a
 * file of its own, for `PGPASSFILE`, because Spark passes a catalog's options to its workers with each table. `folder` is new, and private;
 * `buildLock` is the transaction that holds the lock of the build. Throws SparkRefused if no such file can hold the password.
 */
export async function jdbcAddress(
  databaseUrl: string,
  { folder, buildLock }: { folder: string; buildLock: string },
): Promise<{ catalog: string; user: string; passwordFile: string }> {
  const authoritiesFile = join(folder, 'authorities.pem');
  await writeFile(authoritiesFile, await trustedAuthorities());
  const { host, port, user, password, dbname, tls } = libpqAddress(databaseUrl, authoritiesFile);
  const passwordFile = join(folder, 'pgpass');
  await writeFile(passwordFile, passwordLine(password), { mode: 0o600, flag: 'wx' });
  const parameters = new URLSearchParams({
    currentSchema: 'iceberg',
    ApplicationName: 'daybook spark',
    options: `-c ${buildLockSetting}=${buildLock.replaceAll(' ', '\\ ')}`,
    ...tls,
  });
  const place = host.includes(':') ? `[${host}]` : host;
  return {
    catalog: `jdbc:postgresql://${place}:${port}/${encodeURIComponent(dbname)}?${parameters.toString().replaceAll('+', '%20')}`,
    user,
    passwordFile,
  };
}

/** Matches any host, port, database and user: there is only one. */
function passwordLine(password: string): string {
  if (/[\r\n]/.test(password))
    throw new SparkRefused(
      'the password of the database has a line break, which a password file cannot hold',
    );
  return `*:*:*:*:${password.replaceAll(/[\\:]/g, '\\$&')}\n`;
}
