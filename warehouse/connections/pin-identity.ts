import type { PoolClient } from 'pg';
import { IdentityChanged, IdentityInUse, TokenNotProved } from '../errors.ts';
import { tokenMarkSql } from '../secrets/sealed-token.ts';
import type { TokenOfRun } from './prove-token.ts';

/** The company that the service answers for: the `connection` object of its responses (API document 2.1). */
export interface ServiceIdentity {
  readonly id: string;
  readonly orgId: string;
  /** Null if the service leaves it out; the known platform then stays. */
  readonly platform: string | null;
}

/**
 * Pins the service's connection and organization from the first response to the connection's token; every later response must name the same. A
 * response to a token that was replaced meanwhile, or that belonged to an earlier connection of the name, pins nothing.
 *
 * Throws IdentityChanged, TokenNotProved, and IdentityInUse if another name has already pinned this service connection.
 */
export async function pinIdentity(
  client: PoolClient,
  input: TokenOfRun & { identity: ServiceIdentity },
): Promise<void> {
  const { connectionId, identity } = input;
  const pinned = await client.query<{
    service_connection_id: string;
    org_id: string;
    platform: string | null;
  }>({
    name: 'read identity',
    text: `
      select service_connection_id, org_id, platform
      from sync.connections
      where connection_id = $1 and service_connection_id is not null`,
    values: [connectionId],
  });
  const [known] = pinned.rows;
  if (known === undefined) return pinFirst(client, input);
  if (known.service_connection_id !== identity.id || known.org_id !== identity.orgId) {
    throw new IdentityChanged(connectionId);
  }
  if (identity.platform !== null && known.platform !== identity.platform) {
    await client.query('update sync.connections set platform = $2 where connection_id = $1', [
      connectionId,
      identity.platform,
    ]);
  }
}

async function pinFirst(
  client: PoolClient,
  input: TokenOfRun & { identity: ServiceIdentity },
): Promise<void> {
  const { connectionId, runId, token, identity } = input;
  // The lock makes two names that open the same company pin one after the other; the second then sees the first.
  await client.query("select sync.lock('identity/' || $1)", [identity.id]);
  const { rows } = await client.query<{ connection_id: string; org_id: string }>(
    `select other.connection_id, other.org_id
     from sync.connections other
     join sync.connections mine using (api_address)
     where mine.connection_id = $1 and other.service_connection_id = $2 and other.connection_id <> $1`,
    [connectionId, identity.id],
  );
  const [other] = rows;
  // The row is locked, so the token cannot be replaced until the commit.
  const asked = await client.query(
    `select from sync.connections
     where connection_id = $1 and ${tokenMarkSql} = $2
       and exists (select from sync.runs where run_id = $3 and connection_id = $1)
     for no key update`,
    [connectionId, token, runId],
  );
  if (asked.rowCount === 0) throw new TokenNotProved(connectionId);
  if (other !== undefined) {
    const isOfOtherOrganisation = other.org_id !== identity.orgId;
    throw new IdentityInUse(connectionId, { connectionId: other.connection_id, isOfOtherOrganisation });
  }
  const updated = await client.query(
    `update sync.connections set service_connection_id = $2, org_id = $3, platform = $4
     where connection_id = $1
       and (service_connection_id is null or (service_connection_id = $2 and org_id = $3))`,
    [connectionId, identity.id, identity.orgId, identity.platform],
  );
  if (updated.rowCount === 0) throw new IdentityChanged(connectionId);
}
