import type { PoolClient } from 'pg';
import { CommitsLost } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { withSessions } from './with-sessions.ts';

/**
 * The warehouse for the work of a run that must not go on past a failover. A standby that is promoted may lack the last commits, and what the
 * run remembers of them is not so there; but it always begins another timeline. Each session is asked for its own when it is taken, and
 * CommitsLost is thrown where it is another one. The work of a sync needs none of this: each page lands only where the one before it stands.
 *
 * @param timeline as `sync.timeline()` tells it; null where the server does not: then nothing is asked
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
