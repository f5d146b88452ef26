import * as z from 'zod';
import type { TargetStatus } from '../../warehouse/marts/read-marts-status.ts';
import { inOneBuild } from '../../warehouse/marts/in-one-build.ts';
import type { QueryResult } from '../../warehouse/query/query-texts.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { readClock } from '../../warehouse/clock/read-clock.ts';
import { asObjects, type Chart, type ChosenView } from './chart.ts';
import { charts } from './charts.ts';
import { dayInUtc } from './month.ts';
import { namelessDocuments, namelessRow } from './nameless.ts';
import {
  martsOfOffered,
  offeredChoices,
  parseOffered,
  statementWithin,
  type LeftOutOfChoices,
} from './offered.ts';
import { tellNameless } from './tell-nameless.ts';
import { withoutLonePoint } from './without-lone-point.ts';
import { readBuild } from './read-build.ts';

export interface Dashboard {
  /** The time of reading, by the warehouse's clock. */
  readonly readAt: Date;
  /** The day that the marts describe, as YYYY-MM-DD. */
  readonly asOf: string;
  readonly build: TargetStatus;
  readonly connections: readonly Freshness[];
  /** Connections that can be chosen. */
  readonly offered: readonly string[];
  readonly leftOut: LeftOutOfChoices;
  readonly charts: readonly ChartRead[];
  readonly catalog: readonly MartRead[];
}

export type Freshness = z.infer<typeof freshness>;
export type ChartRead = Omit<Chart, 'views'> & { readonly views: readonly ChosenView[] };

/** A mart and its columns, with their comments. */
export interface MartRead {
  readonly mart: string;
  readonly comment: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly comment: string }[];
}

/**
 * Reads everything that the dashboard shows, from one build of the marts. The connection named `asked` is always among the choices, however
 * many there are. Throws MartsMissing.
 */
export async function readDashboard(warehouse: Warehouse, asked: string | null = null): Promise<Dashboard> {
  const marts = [...new Set(charts.flatMap((chart) => chart.marts))].sort();
  const [readAt, before, read] = await Promise.all([
    readClock(warehouse),
    readBuild(warehouse),
    inOneBuild(warehouse, { marts: [...new Set([...marts, ...martsOfOffered])] }, async (run) => {
      const offered = parseOffered(await run(offeredChoices(asked)));
      const answers = new Map<string, QueryResult>();
      for (const chart of charts) answers.set(chart.id, await run(statementWithin(chart, offered)));
      return {
        offered,
        answers,
        connections: await run(freshnessOfConnections),
        catalog: await run(catalogQuery(marts)),
        nameless: await run(namelessDocuments),
      };
    }),
  ]);
  const build = await readBuild(warehouse);
  // Another build was published meanwhile. The rows may be of either build, and the page names its build, so read again.
  if (build.built_at?.getTime() !== before.built_at?.getTime()) return readDashboard(warehouse, asked);
  const connections = asObjects(read.connections).map((row) => freshness.parse(row));
  const asOf = connections[0]?.as_of_date ?? readAt.toISOString().slice(0, 10);
  const utcDay = dayInUtc(build.begun_at ?? readAt, asOf);
  const reads = connections.filter(({ is_spend_offered }) => is_spend_offered);
  const nameless = asObjects(read.nameless).map((row) => namelessRow.parse(row));
  const { connections: offered, leftOut } = read.offered;
  const chartReads = charts.map(({ views, ...chart }) => ({
    ...chart,
    views: views(requireResult(read.answers, chart.id), { asOf, utcDay, nameless, reads }).map(
      withoutLonePoint,
    ),
  }));
  return {
    readAt,
    asOf,
    build,
    connections,
    offered,
    leftOut,
    charts: tellNameless({ charts: chartReads, connections, offered, reads, nameless, asOf }),
    catalog: asObjects(read.catalog).map((row) => martRead.parse(row)),
  };
}

function requireResult(answers: ReadonlyMap<string, QueryResult>, id: string): QueryResult {
  const result = answers.get(id);
  if (result === undefined) throw new Error(`The statement of ${id} was not run.`);
  return result;
}

const freshnessOfConnections = `
select
  connection_id, platform, last_success_at, freshness_status, spend_read_until, is_spend_offered, as_of_date,
  coalesce(quarantined, 0) as quarantined,
  coalesce(awaiting_deletion, 0) as awaiting_deletion
from marts.connections
left join (
  select
    connection_id,
    sum(failed_rows) filter (where check_name = 'quarantined_record')::bigint as quarantined,
    sum(failed_rows) filter (where check_name = 'deletion_awaits_approval')::bigint as awaiting_deletion
  from marts.data_quality
  group by connection_id
) as quality using (connection_id)
order by connection_id`;

const freshness = z.object({
  connection_id: z.string(),
  platform: z.string().nullable(),
  /** As Postgres writes it. The last success of the list that was read longest ago. */
  last_success_at: z.string().nullable(),
  freshness_status: z.string(),
  as_of_date: z.string(),
  /** The day up to which bills, expenses and credits are completely known. */
  spend_read_until: z.string().nullable(),
  /** False if the platform offers none of these lists, so that there is nothing to read. */
  is_spend_offered: z.boolean(),
  /** The number of records that could not be stored in their current form. */
  quarantined: z.number(),
  /** The number of records that are gone at the source, and count until their deletion is approved. */
  awaiting_deletion: z.number(),
});

function catalogQuery(marts: readonly string[]): string {
  return `
select
  view.relname as mart,
  obj_description(view.oid, 'pg_class') as comment,
  json_agg(
    json_build_object(
      'name', attname, 'type', format_type(atttypid, atttypmod), 'comment', coalesce(col_description(view.oid, attnum), '')
    ) order by attnum
  )::text as columns
from pg_class as view
inner join pg_namespace as schema on relnamespace = schema.oid
inner join pg_attribute on attrelid = view.oid and attnum > 0 and not attisdropped
where nspname = 'marts' and relname in (${marts.map((mart) => `'${mart}'`).join(', ')})
group by view.oid, view.relname
order by view.relname`;
}

const martRead = z.object({
  mart: z.string(),
  comment: z
    .string()
    .nullable()
    .transform((text) => text ?? ''),
  columns: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.array(z.object({ name: z.string(), type: z.string(), comment: z.string() }))),
});
