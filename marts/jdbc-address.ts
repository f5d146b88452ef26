import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { libpqAddress } from '../python/libpq-address.ts';
import { trustedAuthorities } from '../python/trusted-authorities.ts';

/** A Postgres as the driver of Java is told of it: reached as libpq is, and asked for no less proof of who it is. */
export async function jdbcAddress(
  databaseUrl: string,
  folder: string,
): Promise<{ catalog: string; user: string; password: string }> {
  const authoritiesFile = join(folder, 'authorities.pem');
  await writeFile(authoritiesFile, await trustedAuthorities());
  const { host, port, user, password, dbname, tls } = libpqAddress(databaseUrl, authoritiesFile);
  const parameters = new URLSearchParams({
    currentSchema: 'iceberg',
    ApplicationName: 'daybook spark',
    ...tls,
  });
  const place = host.includes(':') ? `[${host}]` : host;
  return {
    catalog: `jdbc:postgresql://${place}:${port}/${encodeURIComponent(dbname)}?${parameters.toString().replaceAll('+', '%20')}`,
    user,
    password,
  };
}
