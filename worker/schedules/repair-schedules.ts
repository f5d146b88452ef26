import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { reasonOf } from '../../errors/reason-of.ts';
import { mapConcurrently } from '../../lake/map-concurrently.ts';
import { settleStretch } from '../../warehouse/connections/settle-stretch.ts';
import { takeRepairTurn, type RepairTurn } from '../../warehouse/connections/repair-turn.ts';
import { noteSettledAsListed, withScheduleStates } from '../../warehouse/connections/schedule-state.ts';
import { readClock } from '../../warehouse/clock/read-clock.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { settleConnection, type SchedulePlaces } from '../../operations/schedules/update-schedules.ts';
import { ForeignSchedule } from '../../operations/schedules/settle-schedule.ts';
import { findDifferences, type Occasion } from './find-differences.ts';
import { listSchedules, type ListedSchedules } from './list-schedules.ts';

type Places = SchedulePlaces & { apiAddress: string; requestsPer10s: number };

interface Options {
  readonly logger: Logger;
  readonly stopping: AbortSignal;
}

/** Repairs schedules when a worker starts and once an hour, or sooner after a failure, until `stopping`. */
export async function keepSchedulesRepaired(places: Places, options: Options): Promise<void> {
  const { stopping } = options;
  for (let occasion: Occasion = 'start'; !stopping.aborted; occasion = 'hour') {
    const repaired = await repairSchedules(places, { ...options, occasion });
    await wait(repaired ? hour : hour / 12, undefined, { signal: stopping }).catch(() => undefined);
  }
}

const hour = 3_600_000;

/**
 * Updates the schedules of all connections of this API address to match the database, and deletes those of removed connections. Any number of
 * workers may call it; one repairs for all. Failures are logged: a worker works without repaired schedules. Returns true when the repair is
 * done, whichever worker did it; false if something is left to do.
 */
export async function repairSchedules(
  places: Places,
  input: Options & { occasion?: Occasion },
): Promise<boolean> {
  const options = { occasion: 'start' as const, ...input };
  const { logger, stopping, occasion } = options;
  try {
    const now = await readClock(places.warehouse);
    const since = occasion === 'start' ? now : new Date(now.getTime() - 0.9 * hour);
    while (!stopping.aborted) {
      const turn = await takeRepairTurn(places.warehouse, { since });
      if (turn === 'done') return true;
      if (turn !== 'held') return await repairInTurn(places, turn, options);
      await wait(1_000, undefined, { signal: stopping }).catch(() => undefined);
    }
  } catch (error) {
    logger.warn({ reason: reasonOf(error) }, remedy);
  }
  return false;
}

const remedy =
  'Could not bring the schedules in line with the database: see the reason; they are repaired when a worker starts, and once an hour.';

async function repairInTurn(
  places: Places,
  turn: RepairTurn,
  options: Options & { occasion: Occasion },
): Promise<boolean> {
  let done = false;
  try {
    done = await repairAll(places, turn, options);
    return done;
  } finally {
    await turn.end({ done });
  }
}

async function repairAll(
  places: Places,
  turn: RepairTurn,
  { logger, stopping, occasion }: Options & { occasion: Occasion },
): Promise<boolean> {
  const { warehouse, temporal, apiAddress: address, requestsPer10s } = places;
  await settleStretch(warehouse, { address, requestsPer10s });
  const owner = await warehouseId(warehouse);
  const goOn = async (): Promise<boolean> => !stopping.aborted && (await turn.extend());
  // Must be listed before the connections are read: otherwise a connection that is added meanwhile would look removed.
  const listed = await listSchedules(temporal, { owner, goOn });
  if (listed === undefined) return false;
  const found = await findDifferences(places, { listed, occasion });
  await noteSettledAsListed(warehouse, found.asListed);
  const failureCount = createFailureCount(logger);
  for (let first = 0; first < found.toSettle.length; first += pageLength) {
    if (!(await goOn())) return false;
    const page = found.toSettle.slice(first, first + pageLength);
    failureCount.addPage(await settlePage({ warehouse, temporal, owner }, { page, listed }), page.length);
    // Temporal is away, and each of thousands more would wait for it.
    if (failureCount.shouldStop()) break;
  }
  return failureCount.report(found.toSettle.length);
}

/** A transaction then waits for about 60 requests to Temporal, which a busy laptop answers in two seconds. */
const pageLength = 32;
/** How many connections are settled in Temporal at a time, since workers and people use it too. */
const atOnce = 16;

interface Failed {
  readonly connection: string;
  readonly error: unknown;
}

/** Returns the failures. */
async function settlePage(
  { warehouse, ...places }: { warehouse: Places['warehouse']; temporal: Client; owner: string },
  { page, listed }: { page: readonly string[]; listed: ListedSchedules },
): Promise<Failed[]> {
  const failed: Failed[] = [];
  const deadline = Date.now() + 15_000;
  try {
    await withScheduleStates(warehouse, page, async (states, notes) => {
      const settled = await mapConcurrently(atOnce, page, async (connectionId) => {
        try {
          const state = states.get(connectionId);
          const input = { connectionId, state, resume: false, listed: listed.ids, deadline };
          return await settleConnection(places, input);
        } catch (error) {
          failed.push({ connection: connectionId, error });
          return [];
        }
      });
      await notes.settled(settled.flat());
    });
    return failed;
  } catch (error) {
    return page.map((connection) => ({ connection, error }));
  }
}

/** Counts failures, and logs some of them. */
function createFailureCount(logger: Logger): {
  addPage(failed: readonly Failed[], of: number): void;
  shouldStop(): boolean;
  /** Returns whether nothing is left to do. Schedules of others are not ours to repair. */
  report(of: number): boolean;
} {
  let [foreign, failures, failedInARow] = [0, 0, 0];
  let reason = '';
  return {
    addPage(failed, of) {
      failedInARow = failed.length === of && of > 0 ? failedInARow + 1 : 0;
      for (const { connection, error } of failed) {
        if (error instanceof ForeignSchedule) {
          foreign += 1;
          if (foreign <= mostLogged) logger.warn({ connection, reason: error.message }, remedy);
        } else {
          failures += 1;
          reason ||= reasonOf(error);
        }
      }
    },
    shouldStop: () => failedInARow >= 3 && failures > 0,
    report(of) {
      if (failures > 0 || foreign > mostLogged)
        logger.warn({ connections: of, failed: failures, foreign, reason }, remedy);
      return failures === 0;
    },
  };
}

const mostLogged = 10;
