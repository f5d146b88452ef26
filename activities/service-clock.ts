import { forgetWatermark } from '../warehouse/passes/forget-watermark.ts';
import { aMinute, clockTolerance, lookbackOf } from '../warehouse/passes/lookback-of.ts';
import type { Listed, PassInHand } from '../warehouse/passes/pass.ts';
import { readFromFurtherBack } from '../warehouse/passes/read-from-further-back.ts';
import { restartPass } from '../warehouse/passes/restart-pass.ts';
import type { PassTaken } from '../warehouse/passes/take-pass.ts';
import type { Dependencies } from './dependencies.ts';

export type Taken = Extract<PassTaken, { state: 'open' }>;

/** A cursor is refused once it is old. A service that refuses every cursor, or whose pages go in a circle, would otherwise be read forever. */
export const maximumRestarts = 10;

/** The service's clock in a response, in Unix milliseconds, and the response's arrival by the clock of this process. */
interface ServiceTime {
  readonly milliseconds: number;
  readonly receivedAt: Date;
}

/** The service's clock, as the responses of one chunk show it. */
export interface ServiceClock {
  /**
   * Notes a response, before its page is landed. `heardAt`: when it came, by the clock of the database, estimated on the early side.
   * `beginsAgain`: the pass was restarted, so the page must not land.
   */
  note(response: {
    servedAt: Date | null;
    receivedAt: Date;
  }): Promise<{ heardAt: Date; beginsAgain: boolean }>;
}

/**
 * Called as soon as the database has handed out the pass. `asked` is the time before it was queried, because the host may have slept until it
 * answered.
 */
export function createServiceClock(
  dependencies: Dependencies,
  { asked, ...reading }: { pass: PassInHand; resource: Listed; taken: Taken; asked: Date },
): ServiceClock {
  const { taken } = reading;
  const inDatabase = createDatabaseClock(taken, new Date());
  let told = lastServiceTime(taken, asked);
  let isFirst = true;
  return {
    async note({ servedAt, receivedAt }) {
      const heardAt = inDatabase(receivedAt);
      const now = servedAt === null ? null : { milliseconds: servedAt.getTime(), receivedAt };
      const beginsAgain =
        now !== null && (await beginAgainIfNeeded(dependencies, { ...reading, now, told, heardAt, isFirst }));
      told = now ?? told;
      isFirst = false;
      return { heardAt, beginsAgain };
    },
  };
}

/** The service's time in the newest page of any run; null if none had one. */
function lastServiceTime({ serviceTime }: Taken, asked: Date): ServiceTime | null {
  if (serviceTime === null) return null;
  const { milliseconds, agoMilliseconds } = serviceTime;
  return { milliseconds, receivedAt: new Date(asked.getTime() - agoMilliseconds) };
}

/**
 * Returns a function that converts the arrival of a response to the clock of the database, based on the time at which it handed out the pass, at
 * the latest at `returned`. The result is rather too early, so that time in which the host slept does not count as the service's.
 */
function createDatabaseClock({ takenAtMilliseconds }: Taken, returned: Date): (receivedAt: Date) => Date {
  return (receivedAt) => new Date(takenAtMilliseconds + receivedAt.getTime() - returned.getTime());
}

/**
 * Restarts the pass if the service's time in a response requires it, and returns whether it did. Reasons: the service has set its clock back,
 * the watermark lies in its future, or the pass stood still for longer than the lookback, so that records which the list shows late would be
 * behind its cursor. Differences of up to a minute are tolerated: the servers of one service may differ.
 */
async function beginAgainIfNeeded(
  { warehouse, policies: { lookbackMilliseconds } }: Dependencies,
  reading: {
    pass: PassInHand;
    resource: Listed;
    taken: Taken;
    now: ServiceTime;
    told: ServiceTime | null;
    heardAt: Date;
    isFirst: boolean;
  },
): Promise<boolean> {
  const { pass, resource, taken, heardAt } = reading;
  if (pass.kind === 'backfill') return false;
  const { cursor, servedUntilMilliseconds: before, stoodStill } = taken;
  const now = reading.now.milliseconds;
  const servedAt = new Date(now);
  const tolerance = clockTolerance(lookbackMilliseconds);
  const lookback = lookbackOf(resource, lookbackMilliseconds);
  if (reading.isFirst && (taken.watermarkMilliseconds ?? -Infinity) > now + tolerance) {
    await forgetWatermark(warehouse, { pass, resource, servedAt, heardAt });
    return true;
  }
  const putBack = pass.kind === 'sync' ? putBackBy(reading) : 0;
  // Servers whose clocks differ by much would make it restart again and again.
  if (taken.restarts >= maximumRestarts) return false;
  if (putBack > tolerance || (taken.floorMilliseconds ?? -Infinity) > now + tolerance) {
    const milliseconds = lookback + putBack + 2 * aMinute;
    await readFromFurtherBack(warehouse, { pass, resource, servedAt, heardAt, milliseconds });
    return true;
  }
  if (!reading.isFirst || stoodStill || cursor === null) return false;
  // Once per run: a service that asks for a pause after every few pages would be read in circles. The watermark is capped anyway, and a
  // reconcile's whole listing is judged before it counts: `beginAgainIfStoodStill`.
  const stoodStillFor = before === null ? 0 : now - before;
  // Behind a record with a future time a list shows nothing that has come since.
  const isBehindFuture = taken.takenOver && (taken.highestMilliseconds ?? -Infinity) > now + tolerance;
  if (stoodStillFor <= lookbackMilliseconds && !isBehindFuture) return false;
  await restartPass(warehouse, { pass, resource, lookbackMilliseconds: lookback, why: 'stood still' });
  return true;
}

/**
 * By how much the service has set its clock back since the previous response: the amount by which it advanced less than ours. If our own
 * clock was put forward instead, more is read than needed.
 */
function putBackBy({ now, told }: { now: ServiceTime; told: ServiceTime | null }): number {
  if (told === null) return 0;
  const passed = now.receivedAt.getTime() - told.receivedAt.getTime();
  return Math.max(0, passed - (now.milliseconds - told.milliseconds));
}
