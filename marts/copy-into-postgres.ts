import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import type { DuckDBConnection } from '@duckdb/node-api';
import * as z from 'zod';
import { intoPipe, NamedPipes } from '../lake/parquet/csv-pipe.ts';
import { named, quoted, quotedPath } from '../lake/parquet/duck-db.ts';
import type { BuildLock } from '../warehouse/marts/build-lock.ts';
import { fillMart, type MartColumn, type MartTable } from '../warehouse/marts/fill-mart.ts';
import { prepareSchemas, type MartsSchema } from '../warehouse/marts/prepare-schemas.ts';
import type { BuildFollower } from './build-settings.ts';
import { localFile } from './publish-on-lake.ts';
import { withFinishedMarts } from './with-finished-marts.ts';

/** Marts that were built and tested in DuckDB. */
export interface FinishedMarts {
  /** The file of the DuckDB database. */
  readonly database: string;
  /** dbt's `manifest.json` of the build. */
  readonly manifestFile: string;
  /** The folder with their rows, in order, as `publishOnLake` has written them. */
  readonly scratch: string;
  readonly snapshotId: string;
  readonly manifestSha256: string;
  /** The lock of the lake. */
  readonly lock: BuildLock;
}

/**
 * Copies finished marts into a schema without readers, as tables that dbt would have made. Returns the schema. `lock` is the one of Postgres. Throws
 * ForeignSchema, LockHeld and the errors of both databases.
 */
export async function copyIntoPostgres(
  { inSession, requireLock }: BuildLock,
  { database, manifestFile, scratch }: FinishedMarts,
  follower: BuildFollower,
): Promise<MartsSchema> {
  const { onStep, signal } = follower;
  const schema = await inSession((client) => prepareSchemas(client, { ...follower, requireLock }));
  const pipes = new NamedPipes(scratch, 'mart');
  await withFinishedMarts({ database, scratch }, async (connection) => {
    const tables = await readTables(connection, manifestFile);
    await inSession(async (client) => {
      for (const [index, table] of tables.entries()) {
        signal?.throwIfAborted();
        onStep(`copying into Postgres: ${table.name}, ${index + 1} of ${tables.length}`);
        await intoPipe(
          pipes,
          (pipe) => connection.run(copyStatement(table, { scratch, pipe })),
          (rows) =>
            fillMart(client, schema, {
              table,
              requireLock,
              rows: signal === undefined ? rows : addAbortSignal(signal, rows),
            }),
        );
      }
    });
  });
  return schema;
}

/** The connections in finished marts. */
export function readConnections(marts: FinishedMarts): Promise<string[]> {
  return withFinishedMarts(marts, async (connection) => {
    const read = await connection.runAndReadAll('select connection_id from built.marts.connections');
    return read.getRows().map(([id]) => String(id));
  });
}

/** Reads what the finished tables are: types, comments and required columns from DuckDB, indexes, which it has none of, from dbt. */
async function readTables(connection: DuckDBConnection, manifestFile: string): Promise<MartTable[]> {
  const { nodes } = manifestSchema.parse(JSON.parse(await readFile(manifestFile, 'utf8')));
  const indexes = new Map(Object.values(nodes).map((node) => [node.name, node.config.indexes ?? []]));
  const read = await connection.runAndReadAll(
    `select table_name, tables.comment, column_name, data_type, is_nullable, columns.comment
     from duckdb_tables() tables join duckdb_columns() columns using (database_name, schema_name, table_name)
     where database_name = 'built' and schema_name = 'marts' order by table_name, column_index`,
  );
  const tables = new Map<string, MartTable & { readonly columns: MartColumn[] }>();
  for (const row of read.getRows()) {
    const [name, comment, column, type, isNullable, columnComment] = rowSchema.parse(row);
    const table = tables.get(name) ?? {
      name,
      comment,
      columns: [],
      indexes: (indexes.get(name) ?? []).map(({ columns }) => columns),
    };
    tables.set(name, table);
    table.columns.push({ name: column, type: typeInPostgres(type), isNullable, comment: columnComment });
  }
  return [...tables.values()];
}

const manifestSchema = z.object({
  nodes: z.record(
    z.string(),
    z.object({
      name: z.string(),
      config: z.object({ indexes: z.array(z.object({ columns: z.array(z.string()) })).nullish() }),
    }),
  ),
});

const rowSchema = z.tuple([z.string(), z.string(), z.string(), z.string(), z.boolean(), z.string()]);

/** The types of `dbt/macros/engine/types.sql`. */
function typeInPostgres(type: string): string {
  if (/^DECIMAL\(\d+,\d+\)$/.test(type)) return type.replace('DECIMAL', 'numeric');
  const found = typesInPostgres.get(type);
  if (found === undefined) throw new Error(`No mart has a column of DuckDB's type ${type}.`);
  return found;
}

const typesInPostgres = new Map([
  ['VARCHAR', 'text'],
  ['BIGINT', 'bigint'],
  ['BOOLEAN', 'boolean'],
  ['DATE', 'date'],
  ['DOUBLE', 'double precision'],
  ['TIMESTAMP WITH TIME ZONE', 'timestamp with time zone'],
]);

/** Writes rows in the text format of COPY. Before Postgres 18, COPY ends a CSV where a text has a line `\.`. */
function copyStatement(
  { name, columns }: MartTable,
  { scratch, pipe }: { scratch: string; pipe: string },
): string {
  const values = columns.map((column) =>
    column.type === 'text' ? `${escaped(named(column.name))} as ${named(column.name)}` : named(column.name),
  );
  return `copy (select ${values.join(', ')} from ${quotedPath(localFile(scratch, name))}) to ${quoted(pipe)}
    (format csv, header false, delimiter '\t', quote '', escape '', nullstr '\\N', use_tmp_file false)`;
}

function escaped(text: string): string {
  const characters = [
    ['\\', '\\\\'],
    ['\t', '\\t'],
    ['\n', '\\n'],
    ['\r', '\\r'],
  ] as const;
  return characters.reduce(
    (value, [character, written]) => `replace(${value}, ${quoted(character)}, ${quoted(written)})`,
    text,
  );
}
