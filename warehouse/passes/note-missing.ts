import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import { LeaseLost } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { othersAnswer } from './others-answer.ts';
import type { PassInHand } from './pass.ts';

/** `missing`: the list returned pages before, so its absence is a failure. */
export type ListAbsence = 'unsupported' | 'missing';

/**
 * Notes that a list answered 404, and returns what that means. A list that never returned a page is not offered for the platform, as far as this run
 * can tell; the end of the run decides whether the next ones request it (`judgeUnsupported`). A list that did is missing, and unsupported only after
 * 7 days of nothing but 404 while other lists of the connection answer. Days without a request do not count. Throws LeaseLost.
 */
export async function noteMissing(
  { pool }: Warehouse,
  { pass, requests }: { pass: PassInHand; requests: number },
): Promise<ListAbsence> {
  return inTransaction(pool, async ({ db }) => {
    // The pass is locked before the stream, as everywhere, to avoid a deadlock.
    const held = await db
      .selectFrom('sync.passes')
      .select('lease')
      .where('connection_id', '=', pass.connectionId)
      .where('stream', '=', pass.stream)
      .where('kind', '=', pass.kind)
      .where('part', '=', pass.part)
      .where('lease', '=', pass.lease)
      .forUpdate()
      .executeTakeFirst();
    if (held === undefined) throw new LeaseLost(pass);
    const absence = await judgeStream(db, pass);
    if (absence === 'unsupported') await endStream(db, { pass, requests });
    return absence;
  });
}

/** Notes an answer other than 404, which ends a series of them; a list that was given up as gone is back. */
export async function noteNotMissing({ db }: Warehouse, pass: PassInHand): Promise<void> {
  await db
    .updateTable('sync.streams')
    .set({ capability: 'supported', missing_since: null, missing_at: null })
    .where('connection_id', '=', pass.connectionId)
    .where('stream', '=', pass.stream)
    .where('missing_since', 'is not', null)
    .execute();
}

async function judgeStream(db: Warehouse['db'], pass: PassInHand): Promise<ListAbsence> {
  const { rows } = await sql<{ absence: ListAbsence; wasListed: boolean }>`
    with asked as (
      update sync.streams s set
        missing_since = case
          when listed_at is null then null
          when capability <> 'unsupported' and missing_at < clock_timestamp() - interval '2 days' then clock_timestamp()
          else coalesce(missing_since, clock_timestamp())
        end,
        missing_at = case when listed_at is not null then clock_timestamp() end
      where connection_id = ${pass.connectionId} and stream = ${pass.stream}
      returning listed_at is not null as was_listed,
        listed_at is null
          or missing_since <= clock_timestamp() - interval '7 days'
            and (capability = 'unsupported' or ${othersAnswer}) as is_unsupported
    )
    select was_listed as "wasListed", case when is_unsupported then 'unsupported' else 'missing' end as absence from asked
  `.execute(db);
  const { absence, wasListed } = rows[0] ?? { absence: 'missing' as const, wasListed: true };
  if (wasListed)
    await db
      .updateTable('sync.streams')
      .set({
        capability: absence === 'unsupported' ? 'unsupported' : 'supported',
        capability_checked_at: sql<Date>`clock_timestamp()`,
      })
      .where('connection_id', '=', pass.connectionId)
      .where('stream', '=', pass.stream)
      .execute();
  return absence;
}

async function endStream(
  db: Warehouse['db'],
  { pass, requests }: { pass: PassInHand; requests: number },
): Promise<void> {
  await db
    .deleteFrom('sync.passes')
    .where('connection_id', '=', pass.connectionId)
    .where('stream', '=', pass.stream)
    .where('kind', '=', pass.kind)
    .where('part', '=', pass.part)
    .execute();
  await db
    .updateTable('sync.streams')
    .set({ cursor: null })
    .where('connection_id', '=', pass.connectionId)
    .where('stream', '=', pass.stream)
    .execute();
  await db
    .updateTable('sync.run_streams')
    .set((eb) => ({
      status: 'unsupported',
      requests: eb('requests', '+', requests),
      finished_at: sql<Date>`clock_timestamp()`,
    }))
    .where('run_id', '=', pass.runId)
    .where('stream', '=', pass.stream)
    .execute();
}
