import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { restoreToken } from '../../warehouse/ownership/namespace-claims.ts';
import { oncePerOutage } from '../once-per-outage.ts';
import { claimNamespace } from './claim-namespace.ts';
import { lookAtOwner, type OwnerSeen } from '../../operations/ownership/look-at-owner.ts';
import { NamespaceNotOurs, notOurs } from '../../operations/ownership/namespace-not-ours.ts';
import type { OwnershipPlaces } from '../../operations/ownership/places.ts';
import { renewToken } from './renew-token.ts';

/**
 * Checks every few seconds whether the namespace is still this warehouse's, until `stopping`. Rejects with NamespaceNotOurs once it
 * is not. A worker answers other processes that ask, renews the token once an hour, and claims the namespace again if the owner's
 * schedule was deleted.
 */
export async function watchOwnership(
  places: OwnershipPlaces,
  options: { isWorker: boolean; logger: Logger; stopping: AbortSignal; everyMilliseconds?: number },
): Promise<void> {
  const { isWorker, logger, stopping, everyMilliseconds = 10_000 } = options;
  const attempt = oncePerOutage(logger, 'Could not look up the owner of the namespace; retrying.');
  const look = isWorker ? workersLook(places, logger) : () => readersLook(places);
  while (!stopping.aborted) {
    const lost = await attempt(() => unlessOurs(look));
    if (lost !== undefined) throw lost;
    await wait(everyMilliseconds, undefined, { signal: stopping }).catch(() => undefined);
  }
}

const renewEveryMilliseconds = 3_600_000;
/** A worker whose database lost a renewal in a failover restores it at its next check; other workers wait for that. */
const looksBeforeOlder = 3;

async function unlessOurs(look: () => Promise<void>): Promise<NamespaceNotOurs | undefined> {
  try {
    await look();
    return undefined;
  } catch (error) {
    if (error instanceof NamespaceNotOurs) return error;
    throw error;
  }
}

async function readersLook(places: OwnershipPlaces): Promise<void> {
  const seen = await lookAtOwner(places);
  if (seen !== undefined) refuse(places, seen);
}

function workersLook(places: OwnershipPlaces, logger: Logger): () => Promise<void> {
  let known: KnownToken | undefined;
  let older = 0;
  return async () => {
    const seen = await lookAtOwner(places);
    if (seen === undefined) {
      logger.warn('The schedule "daybook-owner" is gone from Temporal: the namespace is claimed again.');
      await claimNamespace(places, {
        takeOver: false,
        say(sentence) {
          logger.warn(sentence);
        },
      });
      return;
    }
    const { record, ownership, here } = seen;
    if (ownership.is === 'older' && (older += 1) < looksBeforeOlder) {
      await bringBack(places, seen, known);
      return;
    }
    if (ownership.is !== 'ours' && ownership.is !== 'unsure') {
      refuse(places, seen);
      return;
    }
    older = 0;
    if (known?.token !== record.token) {
      const { started } = here.server;
      known = { token: record.token, before: known?.token, started, since: performance.now() };
    }
    const isDue = performance.now() - known.since > renewEveryMilliseconds;
    if (isDue || record.asks !== undefined || ownership.is === 'unsure')
      await renewToken(places, seen, ownership.claim);
  };
}

/** The token that a worker remembers, because its database may lose it. */
interface KnownToken {
  readonly token: string;
  readonly before: string | undefined;
  /** The start time of the Postgres server it was connected to. */
  readonly started: string;
  /** By the monotonic clock of this process. */
  readonly since: number;
}

/**
 * Restores the last renewal, which a promoted standby may lack. The tokens that this process has seen distinguish it from an older state of
 * the database: the database's token was current a moment ago, and the next one was written from the same server.
 */
async function bringBack(
  { warehouse }: OwnershipPlaces,
  { record, here: { claim } }: OwnerSeen,
  known: KnownToken | undefined,
): Promise<void> {
  if (claim === undefined || known === undefined) return;
  const isNext = record.generation === claim.generation + 1 && record.server.started === known.started;
  if (!isNext || (claim.token !== known.token && claim.token !== known.before)) return;
  await restoreToken(warehouse, { claimId: record.claim, before: claim.token, ...record });
}

function refuse(places: OwnershipPlaces, { ownership: { is: why }, record, here }: OwnerSeen): void {
  if (why === 'ours' || why === 'unsure') return;
  throw notOurs(places, { why, record, warehouse: here.warehouse });
}
