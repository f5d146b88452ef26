import { lookAtOwner } from './look-at-owner.ts';
import { notOurs, ownerInWords } from './namespace-not-ours.ts';
import type { OwnershipPlaces } from './places.ts';
import { refusalByOthers } from './refusal-by-others.ts';

/** The owner of the namespace, for people. */
export interface OwnershipRead {
  /** Null: nobody has claimed it. */
  readonly owner: { warehouse: string; database: string; api: string; since: string; inWords: string } | null;
  /** Null: no problem; otherwise the owner, and the remedy. */
  readonly trouble: string | null;
}

/** Throws the errors of the client if Temporal is away. */
export async function readOwnership(places: OwnershipPlaces): Promise<OwnershipRead> {
  const seen = await lookAtOwner(places);
  if (seen === undefined) return { owner: null, trouble: (await refusalByOthers(places))?.message ?? null };
  const { record, here, ownership } = seen;
  const { warehouse, database, api, since } = record;
  const owner = { warehouse, database, api, since, inWords: ownerInWords(record) };
  const { is: why } = ownership;
  if (why === 'ours' || why === 'unsure') return { owner, trouble: null };
  return { owner, trouble: notOurs(places, { why, record, warehouse: here.warehouse }).message };
}
