import type { Selectable } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { NamespaceClaimsTable } from '../tables/namespace-claims.ts';

/** This warehouse's side of its claim to a Temporal namespace. */
export type NamespaceClaim = Selectable<NamespaceClaimsTable>;

/** Reads a claim; undefined if this warehouse has never made it. */
export async function readClaim({ db }: Warehouse, claimId: string): Promise<NamespaceClaim | undefined> {
  return db
    .selectFrom('sync.namespace_claims')
    .selectAll()
    .where('claim_id', '=', claimId)
    .executeTakeFirst();
}

/** Stores a claim before the namespace gets it, so that every claim that the namespace carries is known here. */
export async function insertClaim(
  { db }: Warehouse,
  claim: { claim_id: string; token: string },
): Promise<NamespaceClaim> {
  return db
    .insertInto('sync.namespace_claims')
    .values({ ...claim, generation: 1 })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Deletes a claim that did not come about. */
export async function deleteClaim({ db }: Warehouse, claimId: string): Promise<void> {
  await db.deleteFrom('sync.namespace_claims').where('claim_id', '=', claimId).execute();
}

/**
 * Stores the token that is to follow `token`, and returns it. If another worker has already stored one, that token is returned, so that all write the
 * same. Undefined if another token has followed meanwhile.
 */
export async function proposeToken(
  { db }: Warehouse,
  { claimId, token, next }: { claimId: string; token: string; next: string },
): Promise<string | undefined> {
  const proposed = await db
    .updateTable('sync.namespace_claims')
    .set((eb) => ({ next_token: eb.fn.coalesce('next_token', eb.val(next)) }))
    .where('claim_id', '=', claimId)
    .where('token', '=', token)
    .returning('next_token')
    .executeTakeFirst();
  return proposed?.next_token ?? undefined;
}

/** Records that the namespace carries `token` now. */
export async function confirmToken(
  { db }: Warehouse,
  { claimId, token, generation }: { claimId: string; token: string; generation: number },
): Promise<void> {
  await db
    .updateTable('sync.namespace_claims')
    .set({ token, next_token: null, generation })
    .where('claim_id', '=', claimId)
    .where('next_token', '=', token)
    .execute();
}

/** Records the same if a failover of Postgres has lost the note that `token` was to follow `before`. */
export async function restoreToken(
  { db }: Warehouse,
  input: { claimId: string; before: string; token: string; generation: number },
): Promise<void> {
  const { claimId, before, token, generation } = input;
  await db
    .updateTable('sync.namespace_claims')
    .set({ token, next_token: null, generation })
    .where('claim_id', '=', claimId)
    .where('token', '=', before)
    .execute();
}
