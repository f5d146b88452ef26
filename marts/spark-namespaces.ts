import type { ClientBase } from 'pg';
import type { Lake } from '../lake/lake.ts';

/** The namespaces of Iceberg tables that Spark writes: the marts, and a build, which has no readers. */
export const sparkNamespaces = { marts: 'marts_spark', build: 'marts_spark_build' } as const;

type SparkNamespace = (typeof sparkNamespaces)[keyof typeof sparkNamespaces];

/** Removes the tables of a namespace from the catalog, then their files from the lake. Only while no build runs. */
export async function clearSparkNamespace(
  client: Pick<ClientBase, 'query'>,
  lake: Lake,
  namespace: SparkNamespace,
): Promise<void> {
  await client.query(
    `delete from iceberg.iceberg_tables where catalog_name = 'daybook' and table_namespace = $1`,
    [namespace],
  );
  await lake.removeFolder(`iceberg/${namespace}`);
}
