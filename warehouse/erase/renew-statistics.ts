import type { PoolClient } from 'pg';
import { codeOf } from '../../errors/code-of.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import { isDatabaseAway } from '../session/is-database-away.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RecordNamed } from './erase-record.ts';
import { placesOfContent } from './places-of-content.ts';
import { firstStream } from '../../resources/streams-of.ts';

/** The statistics that Postgres keeps of a table may be from before an erasure. */
class StatisticsKept extends Error {
  override readonly name = 'StatisticsKept';
  readonly handling = 'stop';

  constructor(table: string, code: string) {
    const why =
      code === lockNotAvailable ? 'VACUUM, CREATE INDEX or ALTER TABLE has it in another session' : code;
    super(
      `${table} was not analyzed (${why}), so values of the record may still be in the statistics that Postgres keeps of it (pg_statistic).`,
    );
  }
}

/**
 * Analyzes the tables from which a record was erased. Postgres keeps samples of each column's values until enough of the table has changed, and the
 * estimates of `explain` reveal them. Readers and writers do not wait for this, and it takes seconds for a table of any size. Returns the tables that
 * could not be analyzed; the others are analyzed all the same.
 */
export async function renewStatistics(
  { pool }: Warehouse,
  record: RecordNamed,
  { timeoutMilliseconds = 30_000 }: { timeoutMilliseconds?: number } = {},
): Promise<StatisticsKept[]> {
  const kept: StatisticsKept[] = [];
  for (const { table } of await placesOfContent(pool, record)) {
    try {
      await inTransaction(pool, async ({ client }) => {
        await client.query(
          `set local statement_timeout = 0; set local lock_timeout = ${timeoutMilliseconds}`,
        );
        // Locked first: taking this lock after others may deadlock with an index that is being built.
        await client.query(`lock table ${table} in share update exclusive mode`);
        await analyze(client, table, record);
      });
    } catch (error) {
      const code = String(codeOf(error));
      // The connection has no such list yet, so no page of it was ever stored.
      if (code === foreignKeyViolation) continue;
      if (!sqlState.test(code) || isDatabaseAway(error)) throw error;
      kept.push(new StatisticsKept(table, code));
    }
  }
  return kept;
}

/** Analyzes a table. Postgres keeps the old statistics of an empty table, so a row that no other session sees is inserted first. */
async function analyze(client: PoolClient, table: string, record: RecordNamed): Promise<void> {
  const { rows } = await client.query<{ empty: boolean }>(
    `select not exists (select from ${table}) as empty`,
  );
  const placed = rows[0]?.empty === true ? await insertRow(client, table, record) : undefined;
  await client.query(`analyze ${table}`);
  if (placed !== undefined) await client.query(`delete from ${table} where ctid = $1`, [placed]);
}

/** Inserts a row and returns its ctid. Besides the connection it holds only values that are required. */
async function insertRow(
  client: PoolClient,
  table: string,
  { connectionId, resource }: RecordNamed,
): Promise<string | undefined> {
  const known: Readonly<Record<string, string>> = {
    ...allowed,
    connection_id: connectionId,
    stream: firstStream(resource),
  };
  const { rows: columns } = await client.query<{ name: string; type: string }>(
    `select quote_ident(attname) as name, atttypid::regtype::text as type
     from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and attnotnull and not atthasdef and attidentity = ''`,
    [table],
  );
  const names = columns.map(({ name }) => name).join(', ');
  const values = columns.map(({ name, type }) => known[name] ?? emptyOf[type] ?? '');
  const { rows } = await client.query<{ ctid: string }>(
    `insert into ${table} (${names}) values (${values.map((_, place) => `$${place + 1}`).join(', ')}) returning ctid::text`,
    values,
  );
  return rows[0]?.ctid;
}

/** Empty values by type; for other types it is the empty text. */
const emptyOf: Readonly<Record<string, string>> = {
  integer: '0',
  bigint: '0',
  'timestamp with time zone': '-infinity',
  jsonb: '[]',
};

/** Values by column, where a check constraint allows only some. */
const allowed: Readonly<Record<string, string>> = {
  op: 'delete',
  kind: 'missing',
  status: 'dismissed',
  source: 'reconcile',
};

const foreignKeyViolation = '23503';
const lockNotAvailable = '55P03';
const sqlState = /^[0-9A-Z]{5}$/;
