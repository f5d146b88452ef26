import { sql, type Kysely } from 'kysely';

/** A reconcile knows how long its listings lie apart where the service does not tell its time, and how long an answer waited in hand. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const statements = `
  alter table sync.passes
    add column asked_at timestamptz,
    add column answered_from timestamptz;
  comment on column sync.passes.asked_at is 'When an attempt took it last: later than every write to its resource before';
  comment on column sync.passes.answered_from is 'When the first answer of its listing was taken in, by the clock of the database';
  comment on column sync.passes.answered_at is
    'When its latest answer was taken in, by the clock of the database; of a second listing without an answer, the latest of the first';
`;
