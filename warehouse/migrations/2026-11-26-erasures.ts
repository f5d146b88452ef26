import { sql, type Kysely } from 'kysely';

/** Erasures are runs too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `comment on column sync.runs.kind is 'sync, backfill, reconcile, replay, rebuild, erase, webhook, export or marts'`,
    )
    .execute(db);
}
