import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ClientBase } from 'pg';
import type { Lake } from '../lake/lake.ts';
import { isBucket } from '../lake/location.ts';
import type { Namespace } from './tables-program.ts';

/** The lakes that the catalog names for readers of a namespace. */
export interface Led {
  readonly namespace: Namespace;
  /** Whether it names this lake, with at least one table. */
  readonly isHere: boolean;
  /** The other lakes that it names if this is none of them, as in `DAYBOOK_LAKE`. */
  readonly elsewhere: readonly string[];
}

export async function whereCatalogLeads(
  client: Pick<ClientBase, 'query'>,
  lake: Lake,
): Promise<readonly Led[]> {
  const { rows } = await client.query<{ namespace: Namespace; location: string }>(
    `select table_namespace as namespace, metadata_location as location from iceberg.iceberg_tables
     where catalog_name = 'daybook' and table_namespace = any($1)`,
    [namespaces],
  );
  const tables = await Promise.all(
    rows.map(async ({ namespace, location }) => {
      const at = parseLake(location);
      return { namespace, at, isHere: await isSame(at, lake.location) };
    }),
  );
  return namespaces.map((namespace) => {
    const own = tables.filter((table) => table.namespace === namespace);
    const isHere = own.some((table) => table.isHere);
    return { namespace, isHere, elsewhere: isHere ? [] : [...new Set(own.map(({ at }) => at))] };
  });
}

const namespaces = ['finance', 'marts'] as const;

/** `at` is <lake>/iceberg/<namespace>/<table>/metadata/<name>. */
function parseLake(at: string): string {
  const [lake = at] = at.split(/\/iceberg\/[^/]+\/[^/]+\/metadata\/[^/]+$/);
  return lake.startsWith(scheme) ? resolve(lake.slice(scheme.length)) : lake;
}

/** Whether two locations are the same folder, which may have another name by a link or a mount. */
async function isSame(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  if (isBucket(one) || isBucket(other)) return false;
  const [a, b] = await Promise.all(
    [one, other].map((folder) => stat(folder, { bigint: true }).catch(() => undefined)),
  );
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

const scheme = 'file://';
