import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ClientBase } from 'pg';
import type { Lake } from '../lake/lake.ts';
import type { Namespace } from './tables-program.ts';

/** Tables of which the catalog leads readers to another lake. */
export interface Elsewhere {
  readonly namespace: Namespace;
  /** As `DAYBOOK_LAKE` says them. */
  readonly lakes: readonly string[];
}

/** The namespaces none of whose tables are below this lake. Where all are in no lake, they are not elsewhere. */
export async function namespacesElsewhere(
  client: Pick<ClientBase, 'query'>,
  lake: Lake,
): Promise<readonly Elsewhere[]> {
  const { rows } = await client.query<{ namespace: Namespace; location: string }>(
    `select table_namespace as namespace, metadata_location as location from iceberg.iceberg_tables
     where catalog_name = 'daybook' and table_namespace = any($1)`,
    [['finance', 'marts']],
  );
  const tables = await Promise.all(
    rows.map(async ({ namespace, location }) => {
      const at = lakeOf(location);
      return { namespace, at, isHere: await isSame(at, lake.location) };
    }),
  );
  const here = new Set(tables.filter(({ isHere }) => isHere).map(({ namespace }) => namespace));
  if (tables.every(({ isHere }) => isHere)) return [];
  return (['finance', 'marts'] as const)
    .filter((namespace) => !here.has(namespace))
    .map((namespace) => ({
      namespace,
      lakes: [...new Set(tables.filter((table) => table.namespace === namespace).map(({ at }) => at))],
    }));
}

/** `at` is <lake>/iceberg/<namespace>/<table>/metadata/<name>. */
function lakeOf(at: string): string {
  const [lake = at] = at.split(/\/iceberg\/[^/]+\/[^/]+\/metadata\/[^/]+$/);
  return lake.startsWith(scheme) ? resolve(lake.slice(scheme.length)) : lake;
}

/** The same folder may have another name, by a link or a mount. */
async function isSame(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  if (one.startsWith('s3://') || other.startsWith('s3://')) return false;
  const [a, b] = await Promise.all(
    [one, other].map((folder) => stat(folder, { bigint: true }).catch(() => undefined)),
  );
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

const scheme = 'file://';
