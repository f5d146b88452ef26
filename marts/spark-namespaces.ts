import { escapeLiteral, type ClientBase } from 'pg';
import type { Lake } from '../lake/lake.ts';

/** The namespaces of Iceberg tables that Spark writes: the marts, and a build, which has no readers. */
export const sparkNamespaces = { marts: 'marts_spark', build: 'marts_spark_build' } as const;

type SparkNamespace = (typeof sparkNamespaces)[keyof typeof sparkNamespaces];

/**
 * The setting of a session that names the transaction of a build's lock, without which the catalog refuses its changes (`iceberg.require_lock`).
 * It refuses a statement that arrives late too, so a build that stood still changes nothing beside the next one.
 */
export const buildLockSetting = 'daybook.build_lock';

/**
 * Removes the tables of a namespace from the catalog, then their files from the lake. `buildLock` is the transaction that holds the lock; the
 * catalog refuses if it is lost.
 */
export async function clearSparkNamespace(
  client: Pick<ClientBase, 'query'>,
  lake: Lake,
  { namespace, buildLock }: { namespace: SparkNamespace; buildLock: string },
): Promise<void> {
  // One message without parameters, so one transaction.
  await client.query(
    `select set_config('${buildLockSetting}', ${escapeLiteral(buildLock)}, true);
     delete from iceberg.iceberg_tables where catalog_name = 'daybook' and table_namespace = '${namespace}'`,
  );
  await lake.removeFolder(`iceberg/${namespace}`);
}
