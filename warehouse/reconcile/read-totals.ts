import type { PoolClient } from 'pg';
import { currencyColumnOf, measuresOf, type Measure } from '../../resources/measures.ts';
import type { Resource } from '../../resources/resource.ts';
import { streamsOf } from '../../resources/streams-of.ts';
import type { RunScope } from '../record-scope.ts';
import { withoutNestedLoops } from '../transactions/without-nested-loops.ts';

/** Count and sums of the records of one currency. A sum has all its digits, or the first 1,000 if there are more. */
export type Totals = Readonly<Record<string, string>>;

export interface StreamTotals {
  stream: string;
  /** By currency: at most 100, those that differ first; plus `cannotLand`. */
  source: Readonly<Record<string, Totals>>;
  warehouse: Readonly<Record<string, Totals>>;
  /** Whether the totals of all currencies are equal. */
  equal: boolean;
  /** The number of currencies, if there are more than are listed. */
  currencies?: number;
}

/**
 * Key for records that the source showed in a form that cannot land. Their content is not known, so they equal nothing, even if something is held of
 * them.
 */
export const cannotLand = 'cannot land';

const maxReportedCurrencies = 100;
const maxReportedDigits = 1_000;

/**
 * Reads the totals of source and warehouse, stream by stream. Both sides leave out what another run has written since the listing began, and what the
 * listing showed wrongly: a fetch said so, and its discrepancy was dismissed. If everything was listed twice, the last listing counts. No long time
 * lies between the two, so a record that only the first one showed was deleted while the run went on, as any may be once its page is read.
 */
export async function readTotals(
  client: PoolClient,
  { connectionId, resource, runId }: RunScope,
): Promise<StreamTotals[]> {
  const { rows } = await withoutNestedLoops(client, () =>
    client.query<TotalsRow>(totalsSql(resource), [
      connectionId,
      streamsOf(resource),
      runId,
      maxReportedCurrencies,
      maxReportedDigits,
    ]),
  );
  return streamsOf(resource).map((stream) => {
    const ofStream = rows.filter((row) => row.stream === stream);
    const side = (name: 'source' | 'warehouse'): Record<string, Totals> =>
      Object.fromEntries(
        ofStream.flatMap(({ currency, [name]: totals }) => (totals === null ? [] : [[currency, totals]])),
      );
    const [{ equal, currencies } = { equal: true, currencies: 0 }] = ofStream;
    return {
      stream,
      source: side('source'),
      warehouse: side('warehouse'),
      equal,
      ...(currencies > ofStream.length ? { currencies } : {}),
    };
  });
}

interface TotalsRow {
  stream: string;
  currency: string;
  source: Totals | null;
  warehouse: Totals | null;
  equal: boolean;
  currencies: number;
}

/** Sums are compared as text, so that equal sums are equal digit by digit. */
function totalsSql(resource: Resource): string {
  const measures = measuresOf(resource);
  const numbered = measures.map((measure, index) => ({ measure, name: `m${index}` }));
  const currency = currencyColumnOf(resource)?.name;
  const totals = [
    `'records', count(*)::text`,
    ...numbered.map(({ measure, name }) => `'${measure.name}', coalesce(${sumExpression(name)}, 0)::text`),
  ].join(', ');
  const names = numbered.map(({ name }) => name);
  return `
    with began as (
      select min(started_at) as at
      from sync.passes
      where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile'
    ), shown as (
      select distinct on (stream, record ->> 0)
        stream, listing, record ->> 0 as id, (record ->> 1)::timestamptz as version,
        case when record ->> 1 is null then '${cannotLand}' else record ->> 2 end as currency
        ${numbered.map(({ name }, index) => `, (record ->> ${index + 3})::numeric as ${name}`).join('')}
      from sync.listed_pages
      cross join lateral jsonb_array_elements(records) as listed (record)
      where connection_id = $1 and stream = any($2::text[])
      -- One page may show a record, and another one without an ID that has its digits for a number.
      order by stream, record ->> 0, listing desc, page desc, version desc nulls last
    ), seen as (
      select distinct on (id) * from shown
      order by id, listing desc, version desc nulls last
    ), held as (
      select f.id, f.${resource.version} as version, ${currency === undefined ? 'null' : `f.${currency}`} as currency,
        f._first_seen_at, f._changed_at, f._run_id
        ${numbered.map(({ measure, name }) => `, ${storedSum(measure)} as ${name}`).join('')}
      from finance.${resource.name} f
      ${resource.children.map((child) => joinSums(child.table, child.parentKey, measures)).join('\n      ')}
      where f.connection_id = $1
    ), compared as (
      select coalesce(seen.stream, $2[1]) as stream, seen.id as seen_id, held.id as held_id,
        seen.currency as seen_currency, held.currency as held_currency
        ${names.map((name) => `, seen.${name} as seen_${name}, held.${name} as held_${name}`).join('')}
      from seen full join held on held.id = seen.id
      cross join began
      where not coalesce(held._changed_at >= began.at and held._run_id <> $3, false)
        and (seen.id is not null or (held._first_seen_at < began.at and held._changed_at < began.at) or held._run_id = $3)
        and not exists (
          select from sync.discrepancies d
          where d.connection_id = $1 and d.resource = '${resource.name}' and d.record_id = coalesce(held.id, seen.id)
            and d.run_id = $3 and d.status = 'dismissed' and d.found_at >= began.at
            -- Records that only the second listing showed count as it showed them.
            and (d.kind = 'ahead' or seen.id is null)
        )
        and (held.id is not null or not exists (
          select from sync.tombstones t
          where t.connection_id = $1 and t.resource = '${resource.name}' and t.record_id = seen.id
            and t.noted_at >= began.at
        ))
    ), sides as (
      select stream, 'source' as side, seen_currency as currency ${names.map((name) => `, seen_${name} as ${name}`).join('')}
      from compared where seen_id is not null
      union all
      select stream, 'warehouse', held_currency ${names.map((name) => `, held_${name}`).join('')}
      from compared where held_id is not null
    ), added as materialized (
      select stream, side, coalesce(currency, 'none') as currency, jsonb_build_object(${totals}) as totals
      from sides
      group by stream, side, coalesce(currency, 'none')
    ), paired as (
      select stream, currency, source.totals as source, warehouse.totals as warehouse,
        source.totals is not distinct from warehouse.totals as is_equal
      from (select * from added where side = 'source') source
      full join (select * from added where side = 'warehouse') warehouse using (stream, currency)
    ), ranked as (
      select *, bool_and(is_equal) over (partition by stream) as equal, count(*) over (partition by stream) as currencies,
        row_number() over (partition by stream order by is_equal, currency) as place
      from paired
    )
    select stream, currency, ${told('source')}, ${told('warehouse')}, equal, currencies
    from ranked
    where place <= $4
    order by stream, currency`;
}

/** Shortens the sums: nobody reads so many digits, and there may be such a sum for every record. */
function told(side: 'source' | 'warehouse'): string {
  return `case when ${side} is not null then (
      select jsonb_object_agg(measure, case when length(digits) > $5 then left(digits, $5) || '…' else digits end)
      from jsonb_each_text(${side}) as sums (measure, digits)
    ) end as ${side}`;
}

/**
 * Leaves out numbers with which no record lands (`hugeNumber`). A record that a release before 0.6 landed with one has been in quarantine since it
 * was listed.
 */
function sumExpression(amount: string): string {
  return `sum(${amount}) filter (where abs(${amount}) < '1e100000')`;
}

function storedSum({ column, table }: Measure): string {
  return table === null ? `f."${column.name}"` : `"${table}"."${column.name}"`;
}

function joinSums(table: string, parentKey: string, measures: readonly Measure[]): string {
  const sums = measures.filter((measure) => measure.table === table);
  if (sums.length === 0) return '';
  return `left join (
        select ${parentKey} as id ${sums.map(({ column }) => `, ${sumExpression(`"${column.name}"`)} as "${column.name}"`).join('')}
        from finance.${table}
        where connection_id = $1
        group by ${parentKey}
      ) "${table}" on "${table}".id = f.id`;
}
