import type { DayEnvironment } from './open-day-environment.ts';

/** Judges that webhooks accepted with success are stored and processed, and that forged ones were refused. */
export async function judgeWebhooks({ warehouse, admin }: DayEnvironment): Promise<string[]> {
  const { deliveries, total } = await admin.deliveries();
  if (total > deliveries.length) return ['The log of deliveries is incomplete; the day was too long.'];
  const complaints: string[] = [];
  const forged = deliveries.filter(({ kind }) => kind === 'forged');
  const notRefused = forged.filter(({ lastStatus }) => lastStatus !== null && lastStatus !== 401).length;
  if (notRefused > 0) complaints.push(`${notRefused} forged webhooks were not answered with 401.`);
  const delivered = deliveries.filter(({ kind, state }) => kind !== 'forged' && state === 'delivered').length;
  if (delivered === 0) complaints.push('No webhook ever arrived.');
  const { rows } = await warehouse.pool.query<{ stored: number; waiting: number }>(
    `select coalesce(sum(deliveries), 0)::int as stored,
       count(*) filter (where status = 'waiting')::int as waiting
     from sync.webhook_inbox`,
  );
  const { stored = 0, waiting = 0 } = rows[0] ?? {};
  // More may be stored, because a killed process loses its answer and the webhook comes again.
  if (stored < delivered)
    complaints.push(`${delivered} webhooks were accepted, but only ${stored} are stored.`);
  if (waiting > 0) complaints.push(`${waiting} webhooks are still waiting.`);
  return complaints;
}
