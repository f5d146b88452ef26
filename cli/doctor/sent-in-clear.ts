import { databaseAddress } from '../../warehouse/session/database-address.ts';
import { isLoopback } from '../../config/is-loopback.ts';
import { sendsInClear } from '../../config/parse-config.ts';
import type { Settings } from '../../config/settings.ts';

/** Says which traffic to other machines can be read or forged, and what to do about it. */
export function sentInClear({ api, alertUrl, database }: Places): string[] {
  return [
    ...(sendsInClear(api.url)
      ? [
          `the client secret, access tokens and records go to ${new URL(api.url).host} in clear text: give DAYBOOK_API_URL an address with https://`,
        ]
      : []),
    ...(sendsInClear(alertUrl ?? '')
      ? ['alerts go out in clear text: give DAYBOOK_ALERT_URL an address with https://']
      : []),
    ...databaseInClear('DATABASE_URL', database.url),
    ...(database.directUrl === database.url
      ? []
      : databaseInClear('DAYBOOK_DATABASE_DIRECT_URL', database.directUrl)),
  ];
}

function databaseInClear(variable: string, url: string): string[] {
  const { host, tls } = databaseAddress(url);
  if (isLoopback(host) || host.startsWith('/')) return [];
  const remedy = `add sslmode=verify-full to ${variable}, and sslrootcert= for an authority of your own`;
  if (tls === 'none')
    return [`the password and all records go to Postgres at ${host} in clear text: ${remedy}`];
  if (tls === 'unproved') return [`Postgres at ${host} need not prove that it is yours: ${remedy}`];
  return [];
}

interface Places {
  readonly api: Pick<Settings['api'], 'url'>;
  readonly alertUrl: Settings['alertUrl'];
  readonly database: Pick<Settings['database'], 'url' | 'directUrl'>;
}
