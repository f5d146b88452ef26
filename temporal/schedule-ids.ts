export const scheduleKinds = ['sync', 'reconcile', 'backfill'] as const;

/** The kinds of schedules of a connection. */
export type ScheduleKind = (typeof scheduleKinds)[number];

export const scheduleIds = {
  connection: (kind: ScheduleKind, connection: string) => `${kind}/${connection}`,
  export: 'export',
  prune: 'prune',
  /** Permanently paused; its input names the owner of the namespace. */
  owner: 'daybook-owner',
} as const;

/** The ID of the workflow that a schedule starts; the server appends the time. */
export function scheduledWorkflowId(scheduleId: string): string {
  return `scheduled/${scheduleId}`;
}
