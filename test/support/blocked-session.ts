import pg from 'pg';
import { onTestFinished } from 'vitest';
import { eventually } from './eventually.ts';

/** Locks a table against writes until the test is over, so that any session that writes to it waits. */
export async function blockWrites(url: string, table: string): Promise<{ letGo: () => Promise<void> }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  await client.query(`lock table ${table} in exclusive mode`);
  return {
    letGo: async () => {
      await client.query('rollback');
    },
  };
}

/** Waits until `sessions` sessions of the database wait for a lock, and returns their process ids. */
export async function waitingSessions(url: string, sessions = 1): Promise<number[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await eventually(async () => {
      const { rows } = await client.query<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      if (rows.length < sessions)
        throw new Error(`${rows.length} instead of ${sessions} sessions wait for a lock.`);
      return rows.map(({ pid }) => pid);
    });
  } finally {
    await client.end();
  }
}
