import { sql, type RawBuilder } from 'kysely';
import { streamNamed } from '../../resources/index.ts';
import type { Resource, Stream } from '../../resources/resource.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { BackfillPlan } from './backfill-plan.ts';
import { isOfPlan } from './backfill-windows.ts';
import { knownUnsupported } from './known-unsupported.ts';

export interface BackfillEstimate {
  /** Windows of the same plan are left from an unfinished run: only those are read. */
  resumes: boolean;
  streams: { stream: string; windows: number; requests: number }[];
  /** Streams that the service recently said it does not offer for the platform. */
  unsupported: string[];
}

/** Estimates what a backfill would read; the requests are derived from the records that the warehouse holds. Changes nothing. */
export async function estimateBackfill(
  { db }: Pick<Warehouse, 'db'>,
  { connectionId, plan }: { connectionId: string; plan: BackfillPlan },
): Promise<BackfillEstimate> {
  const resumes = await isLeft(db, { connectionId, plan });
  const unsupported = await readUnsupported(db, { connectionId, plan });
  const streams: BackfillEstimate['streams'] = [];
  for (const stream of plan.streams.filter((name) => !unsupported.includes(name))) {
    streams.push({ stream, ...(await estimateStream(db, { connectionId, plan, stream, resumes })) });
  }
  return { resumes, streams: streams.filter(({ windows }) => windows > 0), unsupported };
}

async function isLeft(
  db: Warehouse['db'],
  { connectionId, plan }: { connectionId: string; plan: BackfillPlan },
): Promise<boolean> {
  const left = await db
    .selectFrom('sync.passes')
    .select('part')
    .where('connection_id', '=', connectionId)
    .where('kind', '=', 'backfill')
    .where(isOfPlan(plan.name))
    .limit(1)
    .executeTakeFirst();
  return left !== undefined;
}

async function readUnsupported(
  db: Warehouse['db'],
  { connectionId, plan }: { connectionId: string; plan: BackfillPlan },
): Promise<string[]> {
  const rows = await db
    .selectFrom('sync.streams')
    .select('stream')
    .where('connection_id', '=', connectionId)
    .where('stream', 'in', plan.streams)
    .where(knownUnsupported)
    .execute();
  return rows.map(({ stream }) => stream);
}

/** The largest page of the API (API document 8). */
const recordsPerRequest = 500;

/** Estimates a request for each window, and one more for each further page of the records that were updated in it. */
async function estimateStream(
  db: Warehouse['db'],
  input: { connectionId: string; plan: BackfillPlan; stream: string; resumes: boolean },
): Promise<{ windows: number; requests: number }> {
  const { connectionId, plan, stream: name, resumes } = input;
  const { stream, resource } = streamNamed(name);
  const left = sql`
    select ${windowNumber('floor', plan)} as place
    from sync.passes
    where connection_id = ${connectionId} and stream = ${name} and kind = 'backfill'
      and ${isOfPlan(plan.name)}`;
  const all = sql`select place::bigint from generate_series(0, ${plan.windows}::integer - 1) as place`;
  const { rows } = await sql<{ windows: number; requests: number }>`
    with held as (
      select ${windowNumber('updated_at', plan)} as place, count(*) as records
      from ${sql.table(`finance.${resource.name}`)}
      where connection_id = ${connectionId}
        and updated_at >= ${plan.from}::timestamptz and updated_at < ${plan.to}::timestamptz
        and ${isListedBy(stream, resource)}
      group by 1
    ), to_read as (${resumes ? left : all})
    select
      count(*) as windows,
      coalesce(sum(greatest(1, ceil(coalesce(records, 0)::numeric / ${recordsPerRequest}::integer))), 0)::bigint as requests
    from to_read
    left join held using (place)
  `.execute(db);
  return rows[0] ?? { windows: 0, requests: 0 };
}

/** Returns SQL for the number of the window, from 0. */
function windowNumber(
  time: 'updated_at' | 'floor',
  { from, windowMilliseconds }: BackfillPlan,
): RawBuilder<number> {
  return sql`floor(
    extract(epoch from ${sql.ref(time)} - ${from}::timestamptz) * 1000 / ${windowMilliseconds}::bigint
  )::bigint`;
}

/** Returns SQL for whether the stream lists a row: each filter in a stream's query has a column of the same name. */
function isListedBy(stream: Stream, resource: Resource): RawBuilder<boolean> {
  const filters = Object.entries(stream.query).filter(([name]) =>
    resource.columns.some((column) => column.name === name),
  );
  return sql.join(
    [sql`true`, ...filters.map(([name, value]) => sql`${sql.ref(name)} = ${value}`)],
    sql` and `,
  );
}
