import { sql, type Kysely } from 'kysely';

/** What new columns say of rows of before. Nobody is kept from reading them meanwhile. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(constraint).execute(db);
  await sql.raw(discardedContent).execute(db);
  await sql.raw(listedAt).execute(db);
}

const constraint = 'alter table sync.discrepancies validate constraint discrepancies_kind_check';

/** The sentences are those of releases before: with any other, it was a person. */
const discardedContent = `
  update sync.quarantine set discarded_content = sync.content_hash(payload)
  where status = 'discarded' and discarded_content is null and closed_why not in (
    'the record was deleted at the source', 'deleted at the source', 'a reconcile found what was deleted',
    'a newer version, or the deletion of the record, is known already'
  )`;

/** Whatever was complete, or brought a page in a run or pass that is still known, was listed. It is found before a row is locked. */
const listedAt = `
  with listed as materialized (
    select connection_id, stream from sync.streams
    where capability = 'supported' or watermark is not null or last_success_at is not null or last_reconcile_at is not null
    union
    select connection_id, stream from sync.passes where pages > 0
    union
    select r.connection_id, read.stream from sync.runs r join sync.run_streams read using (run_id) where read.pages > 0
  )
  update sync.streams s
  set listed_at = coalesce(last_success_at, last_reconcile_at, capability_checked_at, clock_timestamp()),
    capability = case when capability = 'unsupported' then 'supported' else capability end
  from listed
  where s.connection_id = listed.connection_id and s.stream = listed.stream and s.listed_at is null`;
