import { sql, type Kysely } from 'kysely';

/** What another run has met since a reconcile found it absent is no longer surely gone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  alter table sync.discrepancies add column met_at timestamptz;
  comment on column sync.discrepancies.met_at is
    'Of one that is absent: when another run was last shown the record, since this was found';
`;
