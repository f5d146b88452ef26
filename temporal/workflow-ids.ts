/** Workflow IDs are stable, so that Temporal runs one of each at a time, and a second request joins the first. */
export const workflowIds = {
  sync: (connection: string) => `sync/${connection}`,
  reconcile: (connection: string) => `reconcile/${connection}`,
  /** `from` and `to` as ISO 8601; midnight UTC is written as its day. */
  backfill: (connection: string, { from, to }: { readonly from: string; readonly to: string }) =>
    `backfill/${connection}/${dayIfMidnight(from)}_${dayIfMidnight(to)}`,
  webhooks: (connection: string) => `webhooks/${connection}`,
  approval: (connection: string) => `approve-deletes/${connection}`,
  export: 'export',
  marts: 'marts',
  prune: 'prune',
} as const;

/** Returns a time as its day if it is midnight UTC, otherwise unchanged. */
export function dayIfMidnight(time: string): string {
  return time.replace('T00:00:00.000Z', '');
}

/** Whether this may be the ID of a Daybook workflow, with the time that a schedule appends: anyone who can reach the server may start others. */
export function isWorkflowId(id: string): boolean {
  return given.test(id);
}

const name = '[a-z0-9][a-z0-9-]{0,62}';
const time = '[0-9][0-9T:.Z-]{9,29}';
const given = new RegExp(
  `^(scheduled/)?(((sync|reconcile|webhooks|approve-deletes|backfill)/${name})|backfill/${name}/${time}_${time}|export|marts|prune)(-${time})?$`,
);
