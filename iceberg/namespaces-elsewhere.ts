import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ClientBase } from 'pg';
import type { Lake } from '../lake/lake.ts';
import type { Namespace } from './tables-program.ts';

/** Whose tables the catalog has below another lake: readers are led there. Where they are in no lake, they are not elsewhere. */
export async function namespacesElsewhere(
  client: Pick<ClientBase, 'query'>,
  lake: Lake,
): Promise<readonly Namespace[]> {
  const namespaces = ['finance', 'marts'] as const;
  const { rows } = await client.query<{ namespace: Namespace; location: string }>(
    `select table_namespace as namespace, metadata_location as location from iceberg.iceberg_tables
     where catalog_name = 'daybook' and table_namespace = any($1)`,
    [namespaces],
  );
  const here = new Set<Namespace>();
  let areAllHere = true;
  for (const { namespace, location } of rows) {
    if (await isBelow(lake, location)) here.add(namespace);
    else areAllHere = false;
  }
  return areAllHere ? [] : namespaces.filter((namespace) => !here.has(namespace));
}

/** `at` is <lake>/iceberg/<namespace>/<table>/metadata/<name>. */
async function isBelow({ location }: Lake, at: string): Promise<boolean> {
  const isFolder = !location.startsWith('s3://');
  if (at.startsWith(`${isFolder ? 'file://' : ''}${location}/iceberg/`)) return true;
  if (!isFolder || !at.startsWith(scheme)) return false;
  // The same folder may have another name, by a link.
  const [there, here] = await Promise.all(
    [resolve(at.slice(scheme.length), '../../../../..'), location].map((folder) =>
      realpath(folder).catch(() => undefined),
    ),
  );
  return there !== undefined && there === here;
}

const scheme = 'file://';
