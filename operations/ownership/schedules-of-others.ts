import type { Client } from '@temporalio/client';
import { readScheduleMemo } from '../../temporal/schedule-memo.ts';

/** A schedule that names another warehouse as its maker. */
export interface OthersSchedule {
  readonly id: string;
  readonly warehouse: string;
}

export async function schedulesOfOthers(temporal: Client, warehouse: string): Promise<OthersSchedule[]> {
  const found: OthersSchedule[] = [];
  // Thousands of schedules take several pages.
  await temporal.withDeadline(Date.now() + 30_000, async () => {
    for await (const { scheduleId, memo } of temporal.schedule.list()) {
      const maker = readScheduleMemo(memo)?.daybook;
      if (maker !== undefined && maker !== warehouse) found.push({ id: scheduleId, warehouse: maker });
    }
  });
  return found;
}
