import { sql, type Kysely } from 'kysely';

/** Deletions that wait for approval, for the console, the marts and snapshots alike. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(waitingDeletions).execute(db);
}

/** One that still confirms what is absent, or was ended before it could ask, has asked nothing. */
const waitingDeletions = `
  create view sync.waiting_deletions as
    select d.connection_id, d.resource, d.record_id, d.run_id
    from sync.discrepancies d
    where d.closed_at is null and d.status = 'confirmed' and d.kind = 'extra' and d.version is not null
      and exists (
        select from sync.run_streams s
        where s.run_id = d.run_id and s.failure_type = 'ApprovalNeeded'
          and case s.stream when 'refunds' then 'expenses' else s.stream end = d.resource
      );
  comment on view sync.waiting_deletions is
    'Records that a stopped reconcile found gone at the source, and that leave finance when a person approves';
  comment on column sync.waiting_deletions.connection_id is 'Connection of the record';
  comment on column sync.waiting_deletions.resource is 'Resource of the record';
  comment on column sync.waiting_deletions.record_id is 'Service ID of the record';
  comment on column sync.waiting_deletions.run_id is 'Reconcile that found it gone, and asked';
`;
