import { randomUUID } from 'node:crypto';
import {
  confirmToken,
  proposeToken,
  type NamespaceClaim,
} from '../../warehouse/ownership/namespace-claims.ts';
import type { OwnerSeen } from '../../operations/ownership/look-at-owner.ts';
import type { OwnerRecord } from '../../operations/ownership/owner-record.ts';
import { readOwner } from '../../operations/ownership/owner-schedule.ts';
import { databaseNameOf, type OwnershipPlaces } from '../../operations/ownership/places.ts';

/**
 * Replaces the token on both sides, which makes every copy of this database outdated. The database records it first, so that a process
 * that dies in between leaves a namespace whose token the database knows. Undefined if another process was faster: look again.
 */
export async function renewToken(
  { warehouse, temporal, settings }: OwnershipPlaces,
  { record, replace, here }: OwnerSeen,
  claim: NamespaceClaim,
): Promise<OwnerRecord | undefined> {
  const claimId = record.claim;
  const isUnconfirmed = record.token === claim.next_token;
  if (isUnconfirmed) await confirmToken(warehouse, { claimId, ...record });
  const token = isUnconfirmed ? record.token : claim.token;
  const next = await proposeToken(warehouse, { claimId, token, next: randomUUID() });
  if (next === undefined) return undefined;
  const generation = Math.max(record.generation, claim.generation) + 1;
  const answered = { ...record };
  delete answered.asks;
  await replace({
    ...answered,
    token: next,
    generation,
    server: here.server,
    database: databaseNameOf(settings),
  });
  const written = (await readOwner(temporal))?.record;
  if (written?.token !== next) return undefined;
  await confirmToken(warehouse, { claimId, ...written });
  return written;
}
