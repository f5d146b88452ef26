import type { PoolClient } from 'pg';
import { LeaseLost } from '../errors.ts';
import type { PassInHand } from './pass.ts';

/**
 * Locks the pass, and the connection's resource, until the transaction ends. Throws LeaseLost when another attempt has
 * taken the pass over, so an attempt that was given up but still runs can commit nothing.
 *
 * One transaction at a time lands records of a resource: what it finds about them stays true while it writes, two
 * readings of one resource cannot deadlock, and the order of `landedAt` is the order of commits.
 */
export async function lockPass(
  client: PoolClient,
  pass: PassInHand,
  resource: string,
): Promise<{ landedAt: string }> {
  const { rows } = await client.query<{ landed_at: string }>({
    name: 'lock pass',
    text: lockSql,
    values: [pass.connectionId, pass.stream, pass.kind, pass.lease, resource],
  });
  const [locked] = rows;
  if (locked === undefined) throw new LeaseLost(pass);
  return { landedAt: locked.landed_at };
}

/** Plans are made while tables are empty and kept while they grow: with the settings, only index look-ups, which stay right. */
const lockSql = `
  with pass as materialized (
    select from sync.passes
    where connection_id = $1 and stream = $2 and kind = $3 and lease = $4
    for update
  ), resource as materialized (
    select
      pg_advisory_xact_lock(hashtextextended($1 || '/' || $5, 0)),
      set_config('enable_seqscan', 'off', true),
      set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true)
    from pass
  )
  select clock_timestamp()::text as landed_at from resource`;
