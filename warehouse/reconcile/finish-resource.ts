import type { PoolClient } from 'pg';
import { currencyColumnOf, measuresOf, type Measure } from '../../resources/measures.ts';
import type { Resource } from '../../resources/resource.ts';
import { inTransaction } from '../in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { streamsOf, type ResourceOfRun } from './resource-of-run.ts';

/** Of the records of one currency: how many, and the sum of each amount with all its digits. */
export type Totals = Readonly<Record<string, string>>;

export interface StreamTotals {
  stream: string;
  source: Readonly<Record<string, Totals>>;
  warehouse: Readonly<Record<string, Totals>>;
  equal: boolean;
}

/**
 * Proves that source and warehouse are equal, writes the proof into the run, and clears what the reconcile had noted.
 * Records that another run has brought further since they were listed are left out on both sides, and so are those that the
 * listing left out although the source has them. A resource that this run has finished already stays as it is.
 *
 * `waiting` records are gone at the source and await approval: then nothing is equal.
 */
export async function finishResource(
  warehouse: Warehouse,
  input: ResourceOfRun & { waiting: number; held: number },
): Promise<readonly StreamTotals[]> {
  const { connectionId, resource, runId, waiting, held } = input;
  return inTransaction(warehouse.pool, async (client) => {
    const began = await beginningOf(client, input);
    // An attempt before this one has finished the resource, and its listing is gone.
    if (began === null) return readProof(client, input);
    const totals = await totalsOf(client, input);
    for (const { stream, ...proof } of totals) {
      const failure = failureOf({ ...input, waiting, held, equal: proof.equal });
      await client.query(
        `update sync.run_streams set
           totals = $3,
           status = case when quarantined > 0 or $4::text is not null then 'partial' else 'succeeded' end,
           failure_type = $4,
           failure = $5,
           finished_at = clock_timestamp()
         where run_id = $1 and stream = $2`,
        [runId, stream, JSON.stringify(proof), failure?.type ?? null, failure?.sentence ?? null],
      );
    }
    if (totals.every(({ equal }) => equal) && waiting === 0) await settle(client, input, began);
    await client.query(
      `delete from sync.listed_pages where connection_id = $1 and stream = any($2::text[])`,
      [connectionId, streamsOf(resource)],
    );
    await client.query(
      `delete from sync.passes
       where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3`,
      [connectionId, streamsOf(resource), runId],
    );
    return totals;
  });
}

/** When the listing began; null when the run has no listing of the resource, or no longer. */
async function beginningOf(
  client: PoolClient,
  { connectionId, resource, runId }: ResourceOfRun,
): Promise<string | null> {
  const { rows } = await client.query<{ began: string | null }>(
    `select min(started_at)::text as began
     from (
       select started_at from sync.passes
       where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3
       for update
     ) listing`,
    [connectionId, streamsOf(resource), runId],
  );
  return rows[0]?.began ?? null;
}

async function readProof(
  client: PoolClient,
  { resource, runId }: ResourceOfRun,
): Promise<readonly StreamTotals[]> {
  const { rows } = await client.query<{ stream: string; totals: Omit<StreamTotals, 'stream'> }>(
    `select stream, totals from sync.run_streams
     where run_id = $1 and stream = any($2::text[]) and totals is not null`,
    [runId, streamsOf(resource)],
  );
  return rows.map(({ stream, totals }) => ({ stream, ...totals }));
}

function failureOf(input: {
  connectionId: string;
  resource: Resource;
  waiting: number;
  held: number;
  equal: boolean;
}): { type: string; sentence: string } | undefined {
  const { connectionId, resource, waiting, held, equal } = input;
  if (waiting > 0) {
    return {
      type: 'ApprovalNeeded',
      sentence: `${waiting} of ${held} ${resource.name} are gone at the source, and none was deleted. If that is right, approve it: "daybook reconcile ${connectionId} --approve-deletes".`,
    };
  }
  if (!equal) {
    return {
      type: 'NotEqual',
      sentence: `The ${resource.name} of source and warehouse are not equal; the run's totals and the quarantine say by what.`,
    };
  }
  return undefined;
}

/** A deletion that was announced after the listing began may be missing in it. */
async function settle(
  client: PoolClient,
  { connectionId, resource }: ResourceOfRun,
  began: string,
): Promise<void> {
  await client.query(
    `update sync.quarantine
     set status = 'discarded', closed_at = clock_timestamp(), closed_why = 'a reconcile found what was deleted'
     where connection_id = $1 and resource = $2 and stream = 'events' and status = 'open' and first_seen_at < $3`,
    [connectionId, resource.name, began],
  );
  await client.query(
    `update sync.streams set
       last_reconcile_at = clock_timestamp(),
       reconcile_wanted_at = case when reconcile_wanted_at >= $3 then reconcile_wanted_at end
     where connection_id = $1 and stream = any($2::text[])`,
    [connectionId, streamsOf(resource), began],
  );
}

interface TotalsRow {
  stream: string;
  currency: string;
  side: 'source' | 'warehouse';
  totals: Totals;
}

async function totalsOf(
  client: PoolClient,
  { connectionId, resource, runId }: ResourceOfRun,
): Promise<StreamTotals[]> {
  const { rows } = await client.query<TotalsRow>(totalsSql(resource), [
    connectionId,
    streamsOf(resource),
    runId,
  ]);
  return streamsOf(resource).map((stream) => {
    const side = (name: TotalsRow['side']): Record<string, Totals> =>
      Object.fromEntries(
        rows
          .filter((row) => row.stream === stream && row.side === name)
          .map(({ currency, totals }) => [currency, totals]),
      );
    const source = side('source');
    const warehouse = side('warehouse');
    return { stream, source, warehouse, equal: JSON.stringify(source) === JSON.stringify(warehouse) };
  });
}

/** Sums are compared as texts: of equal digits the sums are equal digit by digit. */
function totalsSql(resource: Resource): string {
  const measures = measuresOf(resource);
  const numbered = measures.map((measure, index) => ({ measure, name: `m${index}` }));
  const currency = currencyColumnOf(resource)?.name;
  const totals = [
    `'records', count(*)::text`,
    ...numbered.map(({ measure, name }) => `'${measure.name}', coalesce(sum(${name}), 0)::text`),
  ].join(', ');
  const names = numbered.map(({ name }) => name);
  return `
    with began as (
      select min(started_at) as at
      from sync.passes
      where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile'
    ), seen as (
      select distinct on (record ->> 0)
        stream, record ->> 0 as id, (record ->> 1)::timestamptz as version, record ->> 2 as currency
        ${numbered.map(({ name }, index) => `, (record ->> ${index + 3})::numeric as ${name}`).join('')}
      from sync.listed_pages
      cross join lateral jsonb_array_elements(records) as listed (record)
      where connection_id = $1 and stream = any($2::text[]) and listing = 1
      order by record ->> 0, (record ->> 1)::timestamptz desc nulls last
    ), held as (
      select f.id, f.${resource.version} as version, ${currency === undefined ? 'null' : `f.${currency}`} as currency,
        f._first_seen_at, f._changed_at
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
      where not coalesce(held.version > seen.version, false)
        and (seen.id is not null or (
          held._first_seen_at < began.at and held._changed_at < began.at and not exists (
            select from sync.discrepancies d
            where d.connection_id = $1 and d.resource = '${resource.name}' and d.record_id = held.id
              and d.run_id = $3 and d.status = 'dismissed'
          )
        ))
        and (held.id is not null or not exists (
          select from sync.tombstones t
          where t.connection_id = $1 and t.resource = '${resource.name}' and t.record_id = seen.id
            and t.version > seen.version
        ))
    ), sides as (
      select stream, 'source' as side, seen_currency as currency ${names.map((name) => `, seen_${name} as ${name}`).join('')}
      from compared where seen_id is not null
      union all
      select stream, 'warehouse', held_currency ${names.map((name) => `, held_${name}`).join('')}
      from compared where held_id is not null
    )
    select stream, side, coalesce(currency, 'none') as currency, jsonb_build_object(${totals}) as totals
    from sides
    group by stream, side, currency
    order by stream, side, currency`;
}

function storedSum({ column, table }: Measure): string {
  return table === null ? `f."${column.name}"` : `"${table}"."${column.name}"`;
}

function joinSums(table: string, parentKey: string, measures: readonly Measure[]): string {
  const sums = measures.filter((measure) => measure.table === table);
  if (sums.length === 0) return '';
  return `left join (
        select ${parentKey} as id ${sums.map(({ column }) => `, sum("${column.name}") as "${column.name}"`).join('')}
        from finance.${table}
        where connection_id = $1
        group by ${parentKey}
      ) "${table}" on "${table}".id = f.id`;
}
