import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { deleteClaim, insertClaim } from '../../warehouse/ownership/namespace-claims.ts';
import { answerWithinMilliseconds, askOwner } from '../../operations/ownership/ask-owner.ts';
import { isPolled } from '../../operations/ownership/is-polled.ts';
import type { Here } from '../../operations/ownership/judge-ownership.ts';
import { lookAtOwner, readHere, type OwnerSeen } from '../../operations/ownership/look-at-owner.ts';
import { notOurs, ofOtherSchedules } from '../../operations/ownership/namespace-not-ours.ts';
import type { OwnerRecord } from '../../operations/ownership/owner-record.ts';
import { createOwner, readOwner } from '../../operations/ownership/owner-schedule.ts';
import { databaseNameOf, type OwnershipPlaces } from '../../operations/ownership/places.ts';
import { renewToken } from './renew-token.ts';
import { schedulesOfOthers } from '../../operations/ownership/schedules-of-others.ts';
import { utcMinute } from '../utc-minute.ts';

export interface ClaimOptions {
  /** Replaces an owner that is not this warehouse. */
  readonly takeOver: boolean;
  /** The Temporal server is this process's own, so nobody else can work in it, and a different API address is adopted without asking. */
  readonly ownServer?: boolean;
  /** Called with a sentence before each wait. */
  readonly say: (sentence: string) => void;
}

/**
 * Makes the namespace this warehouse's before a worker polls it: claims a free one, or renews the token of the claim. Any number of workers
 * may do so at once. Throws NamespaceNotOurs, and the client's errors if Temporal is away.
 */
export async function claimNamespace(places: OwnershipPlaces, options: ClaimOptions): Promise<OwnerRecord> {
  let asked = options.takeOver;
  for (let look = 0; look < looksAtMost; look += 1) {
    const seen = await lookAtOwner(places);
    if (seen?.ownership.is === 'unsure' && !asked) {
      await askOwner(places, seen, options);
      asked = true;
      continue;
    }
    const owned = seen === undefined ? await claimFree(places, options) : await goOn(places, seen, options);
    if (owned !== undefined) return owned;
  }
  throw new Error(
    `The owner of Temporal's namespace ${places.settings.temporal.namespace} keeps changing: stop the workers of other warehouses, then start this one again.`,
  );
}

/** Every attempt but the last fails because another process was faster. */
const looksAtMost = 20;

async function claimFree(
  places: OwnershipPlaces,
  { takeOver }: ClaimOptions,
): Promise<OwnerRecord | undefined> {
  const { warehouse, temporal } = places;
  const here = await readHere(places);
  const others = await schedulesOfOthers(temporal, here.warehouse);
  if (others.length > 0 && !takeOver) {
    throw ofOtherSchedules(places, {
      scheduleIds: others.map(({ id }) => id),
      warehouse: here.warehouse,
    });
  }
  const replaced = others.map((other) => other.warehouse);
  const record = await newClaim(places, { here, replaced });
  if (await createOwner(temporal, record)) return record;
  await deleteClaim(warehouse, record.claim);
  return undefined;
}

async function goOn(
  places: OwnershipPlaces,
  seen: OwnerSeen,
  options: ClaimOptions,
): Promise<OwnerRecord | undefined> {
  const { ownership, record, here } = seen;
  if (ownership.is === 'ours' || ownership.is === 'unsure') return renewToken(places, seen, ownership.claim);
  const adopts = options.ownServer === true && ownership.is === 'environment';
  if (!options.takeOver && !adopts)
    throw notOurs(places, { why: ownership.is, record, warehouse: here.warehouse });
  return takeOver(places, seen, options);
}

async function takeOver(
  places: OwnershipPlaces,
  { record, replace, here }: OwnerSeen,
  { say }: ClaimOptions,
): Promise<OwnerRecord | undefined> {
  const { temporal, warehouse } = places;
  const mine = await newClaim(places, { here, replaced: [...record.replaced, record.warehouse] });
  await replace(mine);
  const written = (await readOwner(temporal))?.record;
  if (written?.claim !== mine.claim) {
    await deleteClaim(warehouse, mine.claim);
    return undefined;
  }
  if (await isPolled(temporal)) {
    say(
      `Took the namespace over; waiting ${answerWithinMilliseconds / 1_000} s for the workers of the previous owner to stop.`,
    );
    await wait(answerWithinMilliseconds);
  }
  return written;
}

async function newClaim(
  { warehouse, settings }: OwnershipPlaces,
  { here, replaced }: { here: Omit<Here, 'claim'>; replaced: readonly string[] },
): Promise<OwnerRecord> {
  const { claim_id, token, generation, claimed_at } = await insertClaim(warehouse, {
    claim_id: randomUUID(),
    token: randomUUID(),
  });
  return {
    claim: claim_id,
    token,
    generation,
    warehouse: here.warehouse,
    server: here.server,
    database: databaseNameOf(settings),
    api: settings.api.address,
    since: utcMinute(claimed_at),
    replaced: [...new Set(replaced)].filter((one) => one !== here.warehouse),
  };
}
