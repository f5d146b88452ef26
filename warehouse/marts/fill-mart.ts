import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { escapeIdentifier, escapeLiteral, type ClientBase } from 'pg';
import { from } from 'pg-copy-streams';
import { beginStatement } from '../transactions/in-transaction.ts';
import type { RequireLock } from './build-lock.ts';
import type { MartsSchema } from './prepare-schemas.ts';

/** A mart as its model describes it. */
export interface MartTable {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly MartColumn[];
  /** The columns of each index. */
  readonly indexes: readonly (readonly string[])[];
}

export interface MartColumn {
  readonly name: string;
  /** As Postgres names it. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly comment: string;
}

/**
 * Creates a mart in a schema without readers, as dbt would (`dbt/macros/engine/finish_table.sql`, `told_whole.sql`), and fills it with rows in
 * the text format of COPY.
 */
export async function fillMart(
  client: ClientBase,
  schema: MartsSchema,
  {
    table,
    rows,
    requireLock,
  }: { readonly table: MartTable; readonly rows: Readable; readonly requireLock?: RequireLock },
): Promise<void> {
  const name = `${schema}.${escapeIdentifier(table.name)}`;
  const columns = table.columns.map((column) => ({ ...column, name: escapeIdentifier(column.name) }));
  await client.query(beginStatement);
  await requireLock?.(client);
  await client.query(
    `create table ${name} (${columns
      .map(({ name: column, type, isNullable }) => `${column} ${type}${isNullable ? '' : ' not null'}`)
      .join(', ')}) with (autovacuum_enabled = false)`,
  );
  await pipeline(
    rows,
    client.query(from(`copy ${name} (${columns.map((column) => column.name).join(', ')}) from stdin`)),
  );
  await client.query(
    [
      // Indexes of a full table are made in one go.
      ...table.indexes.map((index) => `create index on ${name} (${index.map(escapeIdentifier).join(', ')})`),
      `alter table ${name} replica identity full`,
      `comment on table ${name} is ${escapeLiteral(table.comment)}`,
      ...columns.map(
        ({ name: column, comment }) => `comment on column ${name}.${column} is ${escapeLiteral(comment)}`,
      ),
    ].join(';\n'),
  );
  await client.query('commit');
  await client.query(`analyze ${name}`);
}
