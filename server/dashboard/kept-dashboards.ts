import type { TargetStatus } from '../../warehouse/marts/read-marts-status.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { readClock } from '../../warehouse/clock/read-clock.ts';
import { readBuild } from './read-build.ts';
import { readDashboard, type Dashboard } from './read-dashboard.ts';

/** A dashboard may take tens of megabytes. */
const mostKept = 4;

/**
 * Like readDashboard, but reads the marts once per build for each `asked`: their rows never change within a build, and reading a million
 * bills takes seconds. Throws MartsMissing.
 */
export function keepDashboards(warehouse: Warehouse): (asked: string | null) => Promise<Dashboard> {
  const kept = new Map<string | null, Dashboard>();
  return async (asked) => {
    const [readAt, build] = await Promise.all([readClock(warehouse), readBuild(warehouse)]);
    for (const [key, dashboard] of kept) if (!isSameBuild(dashboard.build, build)) kept.delete(key);
    const found = kept.get(asked);
    const dashboard =
      found === undefined ? await readDashboard(warehouse, asked) : { ...found, readAt, build };
    // Moves it to the end, so that the most recently requested ones stay.
    kept.delete(asked);
    kept.set(asked, dashboard);
    for (const key of [...kept.keys()].slice(0, -mostKept)) kept.delete(key);
    return dashboard;
  };
}

function isSameBuild(one: TargetStatus, other: TargetStatus): boolean {
  return one.built_at !== null && one.built_at.getTime() === other.built_at?.getTime();
}
