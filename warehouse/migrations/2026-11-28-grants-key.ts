import { sql, type Kysely } from 'kysely';

/** Where all tables are published, Postgres deletes no row of a table without a key. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  drop index sync.api_grants_budget_granted_at_idx;
  alter table sync.api_grants
    add column grant_id bigint generated always as identity,
    add primary key (budget, granted_at, grant_id);
  comment on column sync.api_grants.grant_id is 'Number of the grant: several may be of the same time';
  comment on table sync.api_grants is 'Requests allowed lately; each process deletes those older than the window, every 10 seconds';
`;
