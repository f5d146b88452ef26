import type { PoolClient } from 'pg';

/**
 * For statements that compare all records of a connection with a list of them, which no index has. Of a connection that is new the
 * statistics of Postgres say nothing, while the tables may hold millions of rows of others: it expects one row, and would go through the list
 * again for each of 100,000. In the transaction of the client.
 */
export async function withoutNestedLoops<Result>(
  client: PoolClient,
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query('set local enable_nestloop = off');
  const result = await work();
  await client.query('set local enable_nestloop to default');
  return result;
}
