import type { PoolClient } from 'pg';
import { PagesGoRound, PagesNeverEnd } from '../errors.ts';
import type { LandedCounts } from '../landing/land-records.ts';
import type { PageOrder } from '../landing/prepared-page.ts';
import { answeredSql } from './note-answer.ts';
import type { PassInHand } from './pass.ts';
import { beganAt } from './reading-began.ts';

export interface PageFacts extends LandedCounts {
  read: number;
  quarantined: number;
  deleted: number;
  /** Requests since the previous page, failed ones included. */
  requests: number;
  /** The service's time of the response; null if it tells none. */
  servedAt: Date | null;
  /** When the response came, by the clock of the database, estimated on the early side; null: just now. */
  heardAt: Date | null;
  highest: { readonly id: string; readonly version: string } | null;
  order: PageOrder;
  nextCursor: string | null;
}

/**
 * Moves the pass to its next page, and counts the page in the run, in the commit of its records. A list that returned a page, in any kind of reading,
 * is supported from then on. Throws PagesGoRound and PagesNeverEnd.
 *
 * If a list ignores the requested order, the newest version says nothing about the records to come, and a reading that loses its cursor begins anew
 * (`restartPass`).
 *
 * Loops of any length are found by remembering one cursor, replaced each time that the number of pages has doubled. A reading begins without a
 * cursor, and the cursor of an earlier reading says nothing about it. A list that names new pages without end, none of which has a record, would make
 * the other streams of the run, and its end, wait forever.
 */
export async function recordPage(client: PoolClient, pass: PassInHand, page: PageFacts): Promise<void> {
  const { rows } = await client.query<{ goes_round: boolean | null; never_ends: boolean | null }>({
    name: 'record page',
    text: `
      with before as (
        select
          cursor is not null and cursor_mark = $4 as goes_round,
          cursor is not null and $8 = 0 and $4 is not null and empty_pages >= ${mostEmptyPages} as never_ends
        from sync.passes
        where connection_id = $1 and stream = $2 and kind = $3 and part = $14
      ), moved as (
        update sync.passes set
          cursor = $4,
          cursor_mark = case when cursor is null or pages & (pages + 1) = 0 then $4 else cursor_mark end,
          highest_seen = greatest(highest_seen, $5::timestamptz),
          read_up_to = greatest(case when cursor is not null then read_up_to end, $5::timestamptz),
          out_of_order = out_of_order or not $18 or coalesce(cursor is not null and $19::timestamptz < read_up_to, false),
          pages = pages + 1,
          empty_pages = case when $8 > 0 then 0 when cursor is null then 1 else empty_pages + 1 end,
          served_from = coalesce(served_from, ${beganAt('$16', '$5')}),
          failing_since = null,${answeredSql('$16')}
        where connection_id = $1 and stream = $2 and kind = $3 and part = $14
      ), shown as (
        update sync.streams set
          cursor = case when $3 = 'sync' then $4 else cursor end,
          service_time = case when ${tellsTime} then $16 else service_time end,
          service_time_noted_at = case when ${tellsTime} then least(clock_timestamp(), $17::timestamptz) else service_time_noted_at end,
          capability = 'supported',
          capability_checked_at = case when capability = 'supported' then capability_checked_at else clock_timestamp() end,
          listed_at = coalesce(listed_at, clock_timestamp()),
          missing_since = null,
          missing_at = null
        where connection_id = $1 and stream = $2
          and ($3 = 'sync' or capability <> 'supported' or listed_at is null or missing_since is not null)
      )
      update sync.run_streams set
        pages = pages + 1,
        requests = requests + $7,
        read = read + $8,
        inserted = inserted + $9,
        updated = updated + $10,
        unchanged = unchanged + $11,
        suppressed = suppressed + $12,
        quarantined = quarantined + $13,
        deleted = deleted + $15
      where run_id = $6 and stream = $2
      returning (select goes_round from before), (select never_ends from before)`,
    values: [
      pass.connectionId, // $1
      pass.stream, // $2
      pass.kind, // $3
      page.nextCursor, // $4
      page.highest?.version ?? null, // $5
      pass.runId, // $6
      page.requests, // $7
      page.read, // $8
      page.inserted, // $9
      page.updated, // $10
      page.unchanged, // $11
      page.suppressed, // $12
      page.quarantined, // $13
      pass.part, // $14
      page.deleted, // $15
      page.servedAt, // $16
      page.heardAt, // $17
      page.order.ascends, // $18
      page.order.lowest, // $19
    ],
  });
  if (rows[0]?.goes_round === true) throw new PagesGoRound(pass);
  if (rows[0]?.never_ends === true) throw new PagesNeverEnd(pass, mostEmptyPages);
}

/**
 * A service that filters after it has cut pages returns one empty page for each 500 records that it leaves out; this limit covers two and a half
 * million of them.
 */
const mostEmptyPages = 5_000;

/** One answer without `Date` clears nothing: the last time told, and when it was told, stay together. */
const tellsTime = `$3 = 'sync' and $16::timestamptz is not null`;
