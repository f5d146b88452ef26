import type { PoolClient } from 'pg';

/**
 * For statements that compare all records of a connection with a list of them, which has no index. For a new connection the statistics of Postgres
 * say nothing, while the tables may hold millions of rows of others: the planner expects one row, and would go through the list again for each of
 * 100,000. Applies to the transaction of the client.
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
