import type { PoolClient } from 'pg';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';

/** Records the text of every statement, without its values, of sessions that begin from now on. */
export function recordStatements({ pool }: Pick<Warehouse, 'pool'>): readonly string[] {
  const statements: string[] = [];
  pool.on('connect', (client: PoolClient) => {
    client.query = new Proxy(client.query.bind(client), {
      apply: (query, _, args: [unknown, ...unknown[]]): unknown => {
        statements.push(statementText(args[0]));
        return Reflect.apply(query, client, args);
      },
    });
  });
  return statements;
}

function statementText(statement: unknown): string {
  return typeof statement === 'string' ? statement : (statement as { text: string }).text;
}
