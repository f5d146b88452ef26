import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';

export const releasedFolder: string = path.resolve(import.meta.dirname, '../released');

export const releasedVersions: readonly string[] = readdirSync(releasedFolder).filter((name) =>
  name.startsWith('v'),
);

/** Fills an empty database as psql would. The dump sets a search path and a time zone, which end with the session. */
export async function loadReleased({
  version,
  url,
  dump = 'database.sql.gz',
}: {
  version: string;
  url: string;
  dump?: string;
}): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(gunzipSync(readFileSync(path.join(releasedFolder, version, dump))).toString('utf8'));
  } finally {
    await client.end();
  }
}
