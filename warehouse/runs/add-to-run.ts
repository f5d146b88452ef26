import type { PoolClient } from 'pg';
import type { Warehouse } from '../open-warehouse.ts';
import { unlessRemoved } from './unless-removed.ts';

/** Counts of a run's work on a stream since it last added them. */
export interface CountsToAdd {
  requests?: number;
  read?: number;
  inserted?: number;
  updated?: number;
  unchanged?: number;
  deleted?: number;
  suppressed?: number;
  quarantined?: number;
}

/** Adds to the counts of a run that reads no pages. The stream's row is opened by the first call. Throws ConnectionReplaced. */
export async function addToRun(
  client: PoolClient | Warehouse['pool'],
  input: { runId: string; connectionId: string; stream: string; counts: CountsToAdd },
): Promise<void> {
  const { runId, connectionId, stream, counts } = input;
  await unlessRemoved(connectionId, () =>
    client.query({
      name: 'add to run',
      text: `
      insert into sync.run_streams as had (run_id, connection_id, stream, status, ${countNames.join(', ')})
      values ($1, $2, $3, 'running', ${countNames.map((_, index) => `$${index + 4}`).join(', ')})
      on conflict (run_id, stream) do update set
        ${countNames.map((name) => `${name} = had.${name} + excluded.${name}`).join(', ')}`,
      values: [runId, connectionId, stream, ...countNames.map((name) => counts[name] ?? 0)],
    }),
  );
}

export const countNames = [
  'requests',
  'read',
  'inserted',
  'updated',
  'unchanged',
  'deleted',
  'suppressed',
  'quarantined',
] as const satisfies (keyof CountsToAdd)[];
