import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { isPolled } from './is-polled.ts';
import { lookAtOwner, type OwnerSeen } from './look-at-owner.ts';
import { notOurs } from './namespace-not-ours.ts';
import type { OwnershipPlaces } from './places.ts';

/**
 * Distinguishes a restarted server, or a promoted standby, from a copy of its files: running workers of the owner answer with another token,
 * which is then in this database too, or is not. If nobody answers, this database continues alone. Throws NamespaceNotOurs.
 */
export async function askOwner(
  places: OwnershipPlaces,
  seen: OwnerSeen,
  { say }: { say: (sentence: string) => void },
): Promise<void> {
  if (!(await isPolled(places.temporal))) return;
  say(
    `Postgres is a different process than when the namespace was last used; checking for ${answerWithinMilliseconds / 1_000} s whether the owner is still running elsewhere.`,
  );
  await seen.replace({ ...seen.record, asks: randomUUID() });
  const asked = performance.now();
  while (performance.now() - asked < answerWithinMilliseconds) {
    await wait(lookEveryMilliseconds);
    const now = await lookAtOwner(places);
    if (now === undefined) return;
    if (now.record.token === seen.record.token) continue;
    const { is } = now.ownership;
    if (is === 'ours' || is === 'unsure') return;
    const why = is === 'older' ? 'copy' : is;
    throw notOurs(places, { why, record: now.record, warehouse: now.here.warehouse });
  }
}

/** Workers check every 10 s (`watchOwnership`), and may be busy. */
export const answerWithinMilliseconds = 25_000;
const lookEveryMilliseconds = 1_000;
