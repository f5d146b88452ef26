import { readClaim } from '../../warehouse/ownership/namespace-claims.ts';
import { readServerFacts } from '../../warehouse/ownership/server-facts.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { judgeOwnership, type Here, type Ownership } from './judge-ownership.ts';
import { readOwner, type OwnerFound } from './owner-schedule.ts';
import { apiAddressOf, type OwnershipPlaces } from './places.ts';

/** A claimed namespace, seen from this warehouse. */
export interface OwnerSeen extends OwnerFound {
  readonly here: Here;
  readonly ownership: Ownership;
}

/** Undefined: nobody has claimed the namespace. Throws the errors of the client if Temporal is away. */
export async function lookAtOwner(places: OwnershipPlaces): Promise<OwnerSeen | undefined> {
  // Temporal first: the owner's database has stored each token before Temporal did.
  const found = await readOwner(places.temporal);
  if (found === undefined) return undefined;
  const claim = await readClaim(places.warehouse, found.record.claim);
  const here = { ...(await readHere(places)), claim };
  return { ...found, here, ownership: judgeOwnership(found.record, here) };
}

export async function readHere({
  warehouse,
  settings,
}: Pick<OwnershipPlaces, 'warehouse' | 'settings'>): Promise<Omit<Here, 'claim'>> {
  return {
    warehouse: await warehouseId(warehouse),
    api: apiAddressOf(settings),
    server: await readServerFacts(warehouse.pool),
  };
}
