/** How the Postgres connections of a process are shared, so that all parts together stay within the limit. */
export interface ConnectionShares {
  /** For the pool: syncs, bookkeeping, the console. */
  readonly pool: number;
  /** For an export: one for its lock and two parallel readers, if enough are left for syncs; otherwise one reader. */
  readonly export: number;
  /** For dbt, in addition to the one that holds the lock of a build. Preparing and publishing use theirs before and after dbt. */
  readonly dbt: number;
}

/** Divides the connections. Two to four are too few to share: a build during an export then exceeds the limit by up to three. */
export function shareConnections({ connections }: { connections: number }): ConnectionShares {
  const forExport = connections >= 8 ? 3 : 2;
  const forDbt = connections >= 16 ? 3 : 1;
  return { pool: Math.max(1, connections - forExport - forDbt - 1), export: forExport, dbt: forDbt };
}
