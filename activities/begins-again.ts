import { forgetWatermark } from '../warehouse/passes/forget-watermark.ts';
import { aMinute, clockTolerance, lookbackOf } from '../warehouse/passes/lookback-of.ts';
import type { Listed, PassInHand } from '../warehouse/passes/pass.ts';
import { readFromFurtherBack } from '../warehouse/passes/read-from-further-back.ts';
import { restartPass } from '../warehouse/passes/restart-pass.ts';
import type { PassTaken } from '../warehouse/passes/take-pass.ts';
import type { Dependencies } from './dependencies.ts';

export type Taken = Extract<PassTaken, { state: 'open' }>;

/** A cursor is refused when it has grown old. A service that refuses each one, or whose pages go round, would be read for ever. */
export const maximumRestarts = 10;

/** What the clock of the service showed with a response, in Unix milliseconds, and when that came by the clock of this process. */
export interface ServiceTime {
  readonly milliseconds: number;
  readonly receivedAt: Date;
}

/**
 * With the newest page of any run; null when none came with a time. `asked` is when the database was asked for it: behind its answer the
 * host may have slept.
 */
export function lastServiceTime({ serviceTime }: Taken, asked: Date): ServiceTime | null {
  if (serviceTime === null) return null;
  const { milliseconds, agoMilliseconds } = serviceTime;
  return { milliseconds, receivedAt: new Date(asked.getTime() - agoMilliseconds) };
}

/** When a response came, by the clock of the database. */
export type DatabaseClock = (receivedAt: Date) => Date;

/**
 * By the time at which the database gave the pass, and answered at the latest at `returned`: rather too early, so that no time in which the
 * host slept counts as the service's.
 */
export function databaseClockOf({ takenAtMilliseconds }: Taken, returned: Date): DatabaseClock {
  return (receivedAt) => new Date(takenAtMilliseconds + receivedAt.getTime() - returned.getTime());
}

/**
 * Makes the pass begin again if the service's time in a response requires it, and returns whether it did: the service has set its clock back,
 * the watermark lies in its future, or the pass stood still for longer than the lookback, so that records which the list shows late would be
 * behind its cursor. Differences of up to a minute are tolerated: the servers of one service may differ.
 */
export async function beginAgainIfNeeded(
  { warehouse, policies: { lookbackMilliseconds } }: Dependencies,
  reading: {
    pass: PassInHand;
    listing: { listed: Listed };
    taken: Taken;
    now: ServiceTime;
    told: ServiceTime | null;
    heardAt: Date;
    isFirst: boolean;
  },
): Promise<boolean> {
  const { pass, listing, taken, heardAt } = reading;
  if (pass.kind === 'backfill') return false;
  const { cursor, servedUntilMilliseconds: before, stoodStill } = taken;
  const now = reading.now.milliseconds;
  const servedAt = new Date(now);
  const tolerance = clockTolerance(lookbackMilliseconds);
  const resource = listing.listed;
  const lookback = lookbackOf(resource, lookbackMilliseconds);
  if (reading.isFirst && (taken.watermarkMilliseconds ?? -Infinity) > now + tolerance) {
    await forgetWatermark(warehouse, { pass, resource, servedAt, heardAt });
    return true;
  }
  const putBack = pass.kind === 'sync' ? putBackBy(reading) : 0;
  // Servers that differ by much would have it begin again and again.
  if (taken.restarts >= maximumRestarts) return false;
  if (putBack > tolerance || (taken.floorMilliseconds ?? -Infinity) > now + tolerance) {
    const milliseconds = lookback + putBack + 2 * aMinute;
    await readFromFurtherBack(warehouse, { pass, resource, servedAt, heardAt, milliseconds });
    return true;
  }
  if (!reading.isFirst || stoodStill || cursor === null) return false;
  // Once in a run: a service that asks for a pause after every few pages would be read in circles. The watermark is capped anyhow, and of a
  // reconcile all that it has listed is judged before it counts: `beginAgainIfStoodStill`.
  const stoodStillFor = before === null ? 0 : now - before;
  // Behind a record of the future a list shows nothing that has come since.
  const isBehindFuture = taken.takenOver && (taken.highestMilliseconds ?? -Infinity) > now + tolerance;
  if (stoodStillFor <= lookbackMilliseconds && !isBehindFuture) return false;
  await restartPass(warehouse, { pass, resource, lookbackMilliseconds: lookback, why: 'stood still' });
  return true;
}

/**
 * By how much the service has put its clock back since the response before: so much less it has advanced than ours. Where our own clock
 * was put forward instead, more is read than needed.
 */
function putBackBy({ now, told }: { now: ServiceTime; told: ServiceTime | null }): number {
  if (told === null) return 0;
  const passed = now.receivedAt.getTime() - told.receivedAt.getTime();
  return Math.max(0, passed - (now.milliseconds - told.milliseconds));
}
