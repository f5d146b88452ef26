import { sql, type Kysely } from 'kysely';

/** An alert `backlog` stands for connections that are stale because work waits for workers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(comment).execute(db);
}

const comment = `
  comment on column sync.alerts.kind is
    'What is wrong: failed, paused, stale, stalled, unsupported, approval, quarantine, webhooks, stuck, missed, backlog, export, marts';
`;
