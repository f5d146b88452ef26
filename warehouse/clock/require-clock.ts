import { ClockWrong } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { readClock } from './read-clock.ts';

/** A laptop or a zone that is set wrong, and corrected within the day, stops nothing. */
const mayDifferMilliseconds = 86_400_000;

/** As `checkClock`; returns the clock of Postgres. */
export async function requireClock(warehouse: Pick<Warehouse, 'db'>): Promise<Date> {
  const postgres = await readClock(warehouse);
  checkClock(postgres);
  return postgres;
}

/**
 * Refuses to begin while the clock of Postgres, and that of this host, are a day apart: one of them is wrong. What would be written, and what a
 * prune would remove, by a clock that is days ahead stays wrong until that time has come. Smaller errors are put right by the order of
 * writes (`resource-clock.ts`). Throws ClockWrong, which is retried.
 */
export function checkClock(postgres: Date): void {
  const host = new Date();
  if (Math.abs(postgres.getTime() - host.getTime()) > mayDifferMilliseconds)
    throw new ClockWrong({ postgres, host });
}
