import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';

const setting = 'export_every_seconds';

/** Reads how often a snapshot is exported, in milliseconds; null: only on request. */
async function readExportEvery({ db }: Pick<Warehouse, 'db'>): Promise<number | null> {
  const row = await db
    .selectFrom('sync.settings')
    .select('value')
    .where('name', '=', setting)
    .executeTakeFirst();
  return row === undefined ? null : Number(row.value) * 1_000;
}

export async function setExportEvery({ db }: Warehouse, milliseconds: number | null): Promise<void> {
  if (milliseconds === null) {
    await db.deleteFrom('sync.settings').where('name', '=', setting).execute();
    return;
  }
  const value = String(milliseconds / 1_000);
  await db
    .insertInto('sync.settings')
    .values({ name: setting, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** Lets `work` bring the schedule to its state, one process at a time, so that the last state given to Temporal is the last one written. */
export async function withExportEvery<Result>(
  { pool }: Warehouse,
  work: (every: number | null) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, async ({ db }) => {
    await sql`select sync.lock('schedules of export')`.execute(db);
    return work(await readExportEvery({ db }));
  });
}
