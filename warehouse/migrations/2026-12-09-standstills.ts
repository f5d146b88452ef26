import { sql, type Kysely } from 'kysely';

/** A reconcile knows how long the listing of a resource has stood still. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  alter table sync.passes
    add column answered_at timestamptz,
    add column answered_before timestamptz,
    add column stood_still_seconds float8 not null default 0,
    add column begun_again smallint not null default 0;
  comment on column sync.passes.answered_at is 'When its latest answer was taken in, by the clock of the database';
  comment on column sync.passes.answered_before is
    'Of the second listing of a reconcile: time of the service at the latest answer before it, to whichever list of the resource';
  comment on column sync.passes.stood_still_seconds is
    'The longest that it went without an answer, by the clock of the service or of the database: what a reconcile has listed before is too old';
  comment on column sync.passes.begun_again is
    'Of a reconcile: how often the run has begun the resource again, because it had stood still';
`;
