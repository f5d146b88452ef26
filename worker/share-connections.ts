/** How the connections of a process are shared out, so that all of it together never has more. */
export interface ConnectionShares {
  /** The pool: syncs, bookkeeping, the console. */
  readonly pool: number;
  /** An export: one for its lock and two that read side by side, where enough are left for syncs; else one. */
  readonly export: number;
  /** dbt, beside the one that holds the lock of a build. What prepares and publishes has its own before dbt begins and after it. */
  readonly dbt: number;
}

/** With two to four connections there are none left to share: a build beside an export then takes up to three more. */
export function shareConnections({ connections }: { connections: number }): ConnectionShares {
  const forExport = connections >= 8 ? 3 : 2;
  const forDbt = connections >= 16 ? 3 : 1;
  return { pool: Math.max(1, connections - forExport - forDbt - 1), export: forExport, dbt: forDbt };
}
