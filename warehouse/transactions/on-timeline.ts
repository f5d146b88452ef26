import type { PoolClient } from 'pg';
import { CommitsLost } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { withSessions } from './with-sessions.ts';

/**
 * Returns the warehouse for the work of a run that must not go on past a failover. A promoted standby may lack the last commits that the run
 * remembers, but it always begins another timeline. Each session is asked for its timeline when it is taken, and CommitsLost is thrown if it is
 * another one. A sync does not need this: each page lands only after the previous one.
 *
 * @param timeline as `sync.timeline()` tells it; null if the server does not: then sessions are not checked
 */
export function onTimeline(warehouse: Warehouse, timeline: string | null): Warehouse {
  if (timeline === null) return warehouse;
  return withSessions(warehouse, async () => {
    const client = await warehouse.pool.connect();
    try {
      await requireTimeline(client, timeline);
      return client;
    } catch (error) {
      client.release();
      throw error;
    }
  });
}

async function requireTimeline(client: PoolClient, timeline: string): Promise<void> {
  const { rowCount } = await client.query({
    name: 'require timeline',
    text: 'select where sync.timeline() = $1',
    values: [timeline],
  });
  if (rowCount === 0) throw new CommitsLost('this run');
}
