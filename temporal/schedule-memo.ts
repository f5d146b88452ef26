/** The memo of the schedules of a connection and of exports, shown in Temporal's list. Schedules of all releases have it, so its names must not change. */
export interface ScheduleMemo {
  /** The warehouse that made it. */
  readonly daybook: string;
  /** Absent: it is for all connections. */
  readonly connection?: string;
}

/** Reads a memo; undefined if none of these schedules has it. */
export function readScheduleMemo(memo: Record<string, unknown> | undefined): ScheduleMemo | undefined {
  const { daybook, connection } = memo ?? {};
  if (typeof daybook !== 'string') return undefined;
  return { daybook, ...(typeof connection === 'string' && { connection }) };
}
