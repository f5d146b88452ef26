import type { PoolClient } from 'pg';
import { CompanyUnnamed, ConnectionReplaced, IdentityChanged, TokenNotProved } from '../errors.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { tokenMarkSql } from '../secrets/sealed-token.ts';
import { adoptWebhooks } from '../webhooks/adopt-webhooks.ts';
import { isReplaced } from './is-replaced.ts';
import { pinIdentity, type ServiceIdentity } from './pin-identity.ts';
import { refuseToken } from './refuse-token.ts';

/** An access token as used by a run. */
export interface TokenOfRun {
  readonly connectionId: string;
  readonly runId: string;
  /** See `tokenMark`. */
  readonly token: string;
}

/**
 * Records that the service answered this run's token with the pinned company, and pins the first company it names. Before that, a run lands and
 * deletes nothing. With a null identity (the response names none), returns whether a company was noted before or the token alone proves it
 * (`proveTokenAlone`).
 *
 * Throws IdentityChanged, after which the token is refused and the connection paused, IdentityInUse, ConnectionReplaced, and TokenNotProved if the
 * connection's token has been replaced.
 */
export async function proveToken(
  warehouse: Warehouse,
  of: TokenOfRun & { readonly identity: ServiceIdentity | null },
): Promise<boolean> {
  const { connectionId, runId, token, identity } = of;
  const known = await warehouse.pool.query<{
    refused: boolean;
    named: boolean;
    proved: boolean;
    replaced: boolean;
  }>({
    name: 'read proof of token',
    text: `
      select c.refused_token is not distinct from $3 as refused, r.proved_token is not distinct from $3 as named,
        coalesce(${isProved('$3')}, false) as proved,
        exists (select from sync.removed_runs gone where gone.connection_id = $1 and gone.run_id = $2) as replaced
      from sync.connections c
      left join sync.runs r on r.run_id = $2
      where c.connection_id = $1`,
    values: [connectionId, runId, token],
  });
  const { refused = false, named = false, proved = false, replaced = false } = known.rows[0] ?? {};
  if (replaced) throw new ConnectionReplaced(connectionId);
  if (refused) throw new IdentityChanged(connectionId);
  if (identity === null) return proved;
  try {
    await inTransaction(warehouse.pool, ({ client }) => pinIdentity(client, { ...of, identity }));
  } catch (error) {
    if (!(error instanceof IdentityChanged)) throw error;
    // The token was replaced while this one was in use; the next request uses the new one.
    if (await isReplaced(warehouse, of)) throw new TokenNotProved(connectionId);
    await refuseToken(warehouse, { connectionId, token });
    throw error;
  }
  if (!named) {
    await warehouse.pool.query('update sync.runs set proved_token = $2 where run_id = $1', [runId, token]);
    // Runs once in each run, outside the transaction of the pin. Webhooks being stored at that time, or lost with a process, are adopted by the next
    // run.
    await adoptWebhooks(warehouse, connectionId);
  }
  return true;
}

/**
 * Records that no answer to the token has named a company, now or before. Then the token alone says whose the records are (API document 1.2, 4.5).
 * Once any run learns the company's name, this proof is void.
 *
 * Throws CompanyUnnamed if the company was named before, TokenNotProved if the token has been replaced, IdentityChanged and ConnectionReplaced.
 */
export async function proveTokenAlone(warehouse: Warehouse, of: TokenOfRun): Promise<void> {
  const { connectionId, runId, token } = of;
  await proveToken(warehouse, { ...of, identity: null });
  const { rowCount } = await warehouse.pool.query(
    `update sync.runs r set proved_token = ${alone('$3')}
     from sync.connections c
     where r.run_id = $2 and r.connection_id = $1 and c.connection_id = $1
       and c.service_connection_id is null and ${tokenMarkSql} = $3`,
    [connectionId, runId, token],
  );
  if (rowCount !== 0) return;
  throw (await isReplaced(warehouse, of))
    ? new TokenNotProved(connectionId)
    : new CompanyUnnamed(connectionId);
}

/** The value of `proved_token` if no company was named. No earlier release takes it for a proof. */
function alone(token: string): string {
  return `'alone ' || ${token}::text`;
}

/** Returns SQL for whether run `r` of connection `c` has proved the token. */
function isProved(token: string): string {
  return `(r.proved_token = ${token} or (c.service_connection_id is null and r.proved_token = ${alone(token)}))`;
}

/**
 * Returns a from and a where clause that select one row if this run has proved which company the token opens. The arguments are parameters such as
 * $1.
 */
export function provedSql({ runId, token }: { runId: string; token: string }): string {
  return `
      from sync.runs r
      join sync.connections c using (connection_id)
      where r.run_id = ${runId} and ${isProved(token)} and c.refused_token is distinct from ${token}`;
}

/** Throws TokenNotProved unless this run has proved the token. For the transaction that writes. */
export async function requireProof(
  client: PoolClient,
  { connectionId, runId, token }: TokenOfRun,
): Promise<void> {
  const { rowCount } = await client.query({
    name: 'require proof of token',
    text: `select ${provedSql({ runId: '$1', token: '$3' })} and connection_id = $2`,
    values: [runId, connectionId, token],
  });
  if (rowCount === 0) throw new TokenNotProved(connectionId);
}
