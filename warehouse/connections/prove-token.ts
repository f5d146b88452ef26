import type { PoolClient } from 'pg';
import { CompanyUnnamed, ConnectionReplaced, IdentityChanged, TokenNotProved } from '../errors.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { tokenMarkSql } from '../secrets/sealed-token.ts';
import { adoptWebhooks } from '../webhooks/adopt-webhooks.ts';
import { isReplaced } from './is-replaced.ts';
import { pinIdentity, type ServiceIdentity } from './pin-identity.ts';
import { refuseToken } from './refuse-token.ts';

/** An access token, as a run uses it. */
export interface TokenOfRun {
  readonly connectionId: string;
  readonly runId: string;
  /** See `tokenMark`. */
  readonly token: string;
}

/**
 * Notes for a run that the service has named the pinned company to its token, and pins the first one there is. Nothing lands and
 * nothing is deleted in a run before that. With the identity null, as of a response that names none: whether it was noted before, or
 * whether the token alone proves it (`proveTokenAlone`).
 *
 * Throws IdentityChanged, after which the token is refused and the connection paused, IdentityInUse, and TokenNotProved where
 * the connection has another token by now; ConnectionReplaced.
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
    // A person has set another one while this one was in use: that is asked with next.
    if (await isReplaced(warehouse, of)) throw new TokenNotProved(connectionId);
    await refuseToken(warehouse, { connectionId, token });
    throw error;
  }
  if (!named) {
    await warehouse.pool.query('update sync.runs set proved_token = $2 where run_id = $1', [runId, token]);
    // Once in each run, and not with the pin: what was being stored then, or was lost with a process, is met by the next one.
    await adoptWebhooks(warehouse, connectionId);
  }
  return true;
}

/**
 * Notes for a run that no answer to the token names a company, nor any answer before: then the token is all that says whose the records
 * are (API document 1.2, 4.5). As soon as the company is named, in any run, this proves nothing any more.
 *
 * Throws CompanyUnnamed where the company was named before, TokenNotProved where the connection has another token by now, IdentityChanged
 * and ConnectionReplaced.
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

/** What `proved_token` is when nobody was named: no release before takes it for a proof. */
function alone(token: string): string {
  return `'alone ' || ${token}::text`;
}

/** Of a run `r` and its connection `c`. */
function isProved(token: string): string {
  return `(r.proved_token = ${token} or (c.service_connection_id is null and r.proved_token = ${alone(token)}))`;
}

/** A from clause, and where of it: one row when it is proved in the run whose company the token opens. The arguments are parameters: $1. */
export function provedSql({ runId, token }: { runId: string; token: string }): string {
  return `
      from sync.runs r
      join sync.connections c using (connection_id)
      where r.run_id = ${runId} and ${isProved(token)} and c.refused_token is distinct from ${token}`;
}

/** Throws TokenNotProved unless that was proved in this run: for the transaction that writes. */
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
