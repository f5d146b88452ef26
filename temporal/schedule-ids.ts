export const scheduleKinds = ['sync', 'reconcile', 'backfill'] as const;

/** What a connection has schedules for. */
export type ScheduleKind = (typeof scheduleKinds)[number];

export const scheduleIds = {
  connection: (kind: ScheduleKind, connection: string) => `${kind}/${connection}`,
  export: 'export',
  prune: 'prune',
  /** Paused for good; its input says who owns the namespace. */
  owner: 'daybook-owner',
} as const;

/** ID of the workflow that a schedule starts; the server appends the time to it. */
export function scheduledWorkflowId(scheduleId: string): string {
  return `scheduled/${scheduleId}`;
}
