import type { ClientBase } from 'pg';
import { marksOfPieces } from './mark.ts';
import { notGoing } from './not-going.ts';
import type { RowsOf } from './snapshot-table.ts';
import type { ConnectionWeighed } from './weigh-table.ts';

/** Facts about the connections of a table from before it was weighed. */
export interface WeightsFound {
  /** Weights of the connections that have not changed since they were last weighed. */
  readonly known: ReadonlyMap<string, ConnectionWeighed>;
  /** Number of changes of the other connections so far. */
  readonly changes: ReadonlyMap<string, string>;
  /** Number of pieces into which the rows of a connection were divided; absent: not divided. */
  readonly pieces: ReadonlyMap<string, number>;
  /** The connections to weigh; undefined: all, because a write to the table did not name its connection, or many have changed. */
  readonly changed: readonly string[] | undefined;
  /** The transactions in the snapshot that did not name their connection. */
  readonly uncounted: readonly string[];
}

/** Reads what is known about a table, in the snapshot that the client reads. */
export async function findWeights(
  client: ClientBase,
  { table, writtenTo, resource }: RowsOf & { table: string },
): Promise<WeightsFound> {
  const {
    rows: [written],
  } = await client.query<{ isCounted: boolean; uncounted: string[] }>(
    `select
       exists (
         select from pg_trigger where tgrelid = $1::text::regclass and tgname = 'note_change' and tgenabled = 'A'
       ) as "isCounted",
       array(select transaction_id::text from sync.uncounted_changes where table_name = $1::text) as uncounted`,
    [writtenTo],
  );
  const { rows } = await client.query<Row>(
    `select * from (
       select connection_id, coalesce(clock.changes, -1)::text as changes, weight.rows, weight.mark,
         weight.changes is not distinct from coalesce(clock.changes, -1) as "isKnown"
       from (
         select connection_id, sum(changes)::bigint as changes from sync.resource_clocks
         where resource <> 'events' and resource = coalesce($2, resource)
         group by connection_id
       ) clock
       full join (select * from sync.table_weights where table_name = $1) weight using (connection_id)
     ) found
     where ${notGoing}`,
    [table, resource ?? null],
  );
  const uncounted = written?.uncounted ?? [];
  const changed = rows.filter(({ isKnown }) => !isKnown);
  const isAll =
    written?.isCounted !== true || uncounted.length > 0 || changed.length > rows.length * worthAPass;
  return {
    known: new Map(
      rows
        .filter(({ isKnown }) => isKnown && !isAll)
        .map(({ connection_id: connection, rows: count, mark }) => [
          connection,
          { rows: Number(count), mark: mark ?? '' },
        ]),
    ),
    pieces: new Map(
      rows
        .map(({ connection_id: connection, mark }) => [connection, marksOfPieces(mark ?? '').length] as const)
        .filter(([, count]) => count > 1),
    ),
    changes: new Map((isAll ? rows : changed).map((row) => [row.connection_id, row.changes])),
    changed: isAll ? undefined : changed.map(({ connection_id: connection }) => connection),
    uncounted,
  };
}

interface Row {
  connection_id: string;
  changes: string;
  rows: string | null;
  mark: string | null;
  isKnown: boolean;
}

/** If more than this share of the connections has changed, one pass over the table is quicker than reading the rows of each. */
const worthAPass = 0.2;
