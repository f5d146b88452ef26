import { setSchedule } from '../../../warehouse/connections/set-schedule.ts';
import { formatDuration } from '../../../config/duration.ts';
import { UsageError } from '../../errors.ts';
import { changeConnection } from '../../change-connection.ts';
import type { DurationOrOff } from '../../duration-option.ts';
import { print, printJson } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export interface ScheduleOptions {
  every?: DurationOrOff;
  last?: number;
  /** These options are valid for a single backfill only. */
  from?: string;
  to?: string;
  window?: number;
  resource?: string[];
  dryRun?: true;
  wait: boolean;
  json?: true;
}

/** Sets or ends the backfill schedule of a connection. */
export async function scheduleBackfill(connectionId: string, options: ScheduleOptions): Promise<void> {
  const backfill = parseSchedule(options);
  await withWarehouse((warehouse, settings) =>
    changeConnection({ warehouse, settings }, { connectionId }, () =>
      setSchedule(warehouse, { connectionId, backfill }),
    ),
  );
  if (options.json === true)
    printJson({ every_seconds: asSeconds(backfill.every), last_seconds: asSeconds(backfill.last) });
  else
    print(
      backfill.every === null
        ? `${connectionId} is backfilled on request only.`
        : `${connectionId}: the last ${formatDuration(backfill.last)} are reread every ${formatDuration(backfill.every)}.`,
    );
}

function asSeconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : milliseconds / 1_000;
}

/** Returns milliseconds. */
function parseSchedule(
  options: ScheduleOptions,
): { every: number; last: number } | { every: null; last: null } {
  const { every, last } = options;
  const others = ['from', 'to', 'window', 'resource', 'dryRun'] as const;
  if (!options.wait || others.some((name) => options[name] !== undefined))
    throw new UsageError(
      'A schedule takes --last and --every only: it reads all resources, in windows of 30d.',
    );
  if (every === 'off') return { every: null, last: null };
  if (every === undefined || last === undefined)
    throw new UsageError('A schedule takes both: --last 90d --every 7d. "--every off" ends it.');
  return { every, last };
}
