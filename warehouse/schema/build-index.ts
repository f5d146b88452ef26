import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import { codeOf } from '../../errors/code-of.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { BlockerWatch } from '../transactions/blockers.ts';
import type { ConcurrentIndex } from '../migrations/migration.ts';
import { isLockRefused, lockTimeout } from '../transactions/taking-locks.ts';

/**
 * Builds an index while others read and write its table. Drops first what a killed attempt has left, and waits for another session that is building
 * it.
 */
export async function buildIndex(
  { pool, watch }: { pool: Pool; watch: BlockerWatch },
  index: ConcurrentIndex,
): Promise<void> {
  for (;;) {
    const state = await readIndexState(pool, index);
    if (state === 'valid') return;
    if (state === 'missing') await create({ pool, watch }, index);
    else {
      if (state === 'broken') await drop(pool, index);
      await wait(500);
    }
  }
}

type IndexState = 'valid' | 'missing' | 'building' | 'broken';

/** Looks for a running build before the index itself: if the index is invalid then, nobody was building it. */
async function readIndexState(pool: Pool, index: ConcurrentIndex): Promise<IndexState> {
  const building = await pool.query(
    'select from pg_stat_progress_create_index where relid = $1::regclass and datname = current_database()',
    [index.table],
  );
  const { rows } = await pool.query<{ valid: boolean }>(isValidSql, [indexName(index)]);
  const [found] = rows;
  if (found?.valid === true) return 'valid';
  if (building.rows.length > 0) return 'building';
  return found === undefined ? 'missing' : 'broken';
}

const isValidSql = 'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)';

/** Creates the index. Postgres waits for every older transaction, and blocks nobody meanwhile. */
async function create(
  { pool, watch }: { pool: Pool; watch: BlockerWatch },
  index: ConcurrentIndex,
): Promise<void> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    if (rows[0] !== undefined) watch.watch(rows[0].pid);
    await client.query(`create index concurrently if not exists ${index.name} on ${index.table} ${index.on}`);
  } catch (error) {
    // Another migration began to build it in the same moment, or the two wait for each other.
    if (!isLockRefused(error) && !isTaken(error)) throw error;
  } finally {
    client.release();
  }
}

/** Drops the index in a transaction, after checking once more that nobody has built it since; a session that still builds it refuses the lock. */
async function drop(pool: Pool, index: ConcurrentIndex): Promise<void> {
  try {
    await inTransaction(pool, async ({ client }) => {
      await client.query(`set local lock_timeout = '${lockTimeout}'`);
      await client.query(`lock table ${index.table} in access exclusive mode`);
      const { rows } = await client.query<{ valid: boolean }>(isValidSql, [indexName(index)]);
      if (rows[0]?.valid === false) await client.query(`drop index ${indexName(index)}`);
    });
  } catch (error) {
    if (!isLockRefused(error) && !isBeingChanged(error)) throw error;
  }
}

/** Whether a build is marking its index as built, which it does after it has released the table. Postgres has no separate code for that. */
function isBeingChanged(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('tuple concurrently ');
}

function indexName({ table, name }: ConcurrentIndex): string {
  return `${table.split('.')[0] ?? ''}.${name}`;
}

function isTaken(error: unknown): boolean {
  return ['42P07', '23505'].includes(String(codeOf(error)));
}
