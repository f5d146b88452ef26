import { sql, type Kysely } from 'kysely';

/** That a record was erased is known of its tombstone alone: the run of the erasure goes with its connection, or is pruned. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  alter table sync.tombstones add column erased boolean not null default false;
  comment on column sync.tombstones.erased is
    'Whether the record was erased: then no form of it that is not newer waits in quarantine either';
  update sync.tombstones t set erased = true
  from sync.runs r
  where r.run_id = t.run_id and r.kind = 'erase';
`;
