import { ClockWrong } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { readClock } from './read-clock.ts';

/** A laptop or time zone that is set wrong, and corrected within the day, stops nothing. */
const mayDifferMilliseconds = 86_400_000;

/** Checks the clock as `checkClock` does, and returns the time of Postgres. */
export async function requireClock(warehouse: Pick<Warehouse, 'db'>): Promise<Date> {
  const postgres = await readClock(warehouse);
  checkClock(postgres);
  return postgres;
}

/**
 * Refuses to begin while the clocks of Postgres and this host are more than a day apart, because one of them is wrong. With a clock that is days
 * ahead, rows written and rows pruned would stay wrong until that time has come. The order of writes corrects smaller errors (`resource-clock.ts`).
 * Throws ClockWrong, which is retried.
 */
export function checkClock(postgres: Date): void {
  const host = new Date();
  if (Math.abs(postgres.getTime() - host.getTime()) > mayDifferMilliseconds)
    throw new ClockWrong({ postgres, host });
}
