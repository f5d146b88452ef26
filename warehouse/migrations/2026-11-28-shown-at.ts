import { sql, type Kysely } from 'kysely';

/** Two reconciles that a list which lags shows the same are one word, not two. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  alter table sync.discrepancies add column shown_at timestamptz;
  comment on column sync.discrepancies.shown_at is
    'Of one that is ahead: time of the service at which a listing showed it so first; null: the service did not tell';
  comment on column sync.discrepancies.shown_by is
    'Of one that is ahead and cannot be fetched: the complete reconcile that showed it; when one shows the same that lists later than a list may lag, it is repaired';
`;
