import { askOwner } from './ask-owner.ts';
import { lookAtOwner } from './look-at-owner.ts';
import { notOurs } from './namespace-not-ours.ts';
import type { OwnershipPlaces } from './places.ts';
import { refusalByOthers } from './refusal-by-others.ts';

/**
 * Checks the ownership before a process acts in the namespace without being its worker. An unclaimed namespace is free, unless it has schedules
 * of another warehouse. Throws NamespaceNotOurs, and the errors of the client if Temporal is away.
 */
export async function checkOwnership(
  places: OwnershipPlaces,
  { say }: { say: (sentence: string) => void },
): Promise<void> {
  const seen = await lookAtOwner(places);
  if (seen === undefined) {
    const refusal = await refusalByOthers(places);
    if (refusal !== undefined) throw refusal;
    return;
  }
  const { is: why } = seen.ownership;
  if (why === 'unsure') await askOwner(places, seen, { say });
  else if (why !== 'ours')
    throw notOurs(places, { why, record: seen.record, warehouse: seen.here.warehouse });
}
