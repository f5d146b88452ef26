import type { StreamStatus } from '../../../warehouse/connections/read-status.ts';
import type { RunStreamRead } from '../../../warehouse/runs/read-run.ts';
import type { DiscrepanciesTable } from '../../../warehouse/tables/discrepancies.ts';
import type { WebhookListed } from '../../../warehouse/webhooks/list-webhooks.ts';
import type { ConnectionReport } from '../../../operations/connection-reports.ts';
import type { State } from './pill.tsx';

/** Returns the states of a connection, the most important first. `waiting`: deletions wait for approval. */
export function connectionStates(
  { paused, failures, troubles, stale, streams, quarantined, last_run }: ConnectionReport,
  { waiting }: { waiting: boolean },
): State[] {
  const reading = last_run?.status === 'running';
  const states: State[] = [];
  if (paused !== null) states.push({ tone: 'warn', icon: 'pause', words: 'paused' });
  if (failures > 0 || troubles.length > 0) states.push({ tone: 'bad', icon: 'cross', words: 'failing' });
  if (stale) states.push({ tone: 'bad', icon: 'clock', words: 'stale' });
  if (waiting) states.push({ tone: 'warn', icon: 'warning', words: 'asks for approval' });
  if (streams.some(({ state }) => state === 'missing'))
    states.push({ tone: 'bad', icon: 'warning', words: 'list missing' });
  if (streams.some(({ state }) => state === 'stalled'))
    states.push({ tone: 'warn', icon: 'warning', words: 'stalled' });
  if (streams.some(({ state }) => state === 'begun'))
    states.push({ tone: 'warn', icon: 'warning', words: 'partly read' });
  if (quarantined > 0) states.push({ tone: 'warn', icon: 'warning', words: 'quarantine' });
  if (reading) states.push({ tone: 'active', icon: 'turning', words: 'running' });
  if (states.length > 0) return states;
  const complete = streams.some(({ last_success_at }) => last_success_at !== null);
  return [
    complete
      ? { tone: 'good', icon: 'check', words: 'up to date' }
      : { tone: 'quiet', icon: 'none', words: 'not synced yet' },
  ];
}

export const runStates: Readonly<Record<RunStreamRead['status'], State>> = {
  running: { tone: 'active', icon: 'turning', words: 'running' },
  succeeded: { tone: 'good', icon: 'check', words: 'succeeded' },
  partial: { tone: 'warn', icon: 'warning', words: 'partial' },
  failed: { tone: 'bad', icon: 'cross', words: 'failed' },
  cancelled: { tone: 'quiet', icon: 'cross', words: 'cancelled' },
  interrupted: { tone: 'warn', icon: 'warning', words: 'interrupted' },
  unsupported: { tone: 'quiet', icon: 'none', words: 'not offered' },
};

export const streamStates: Readonly<Record<StreamStatus['state'], State>> = {
  never: { tone: 'quiet', icon: 'none', words: 'not complete yet' },
  reading: { tone: 'active', icon: 'turning', words: 'being read' },
  begun: { tone: 'warn', icon: 'warning', words: 'partly read: the next sync continues' },
  failing: { tone: 'bad', icon: 'warning', words: 'failing, retrying' },
  missing: { tone: 'bad', icon: 'warning', words: 'missing: returns 404' },
  stalled: { tone: 'warn', icon: 'warning', words: 'stalled' },
  unsupported: { tone: 'quiet', icon: 'none', words: 'not offered' },
  complete: { tone: 'good', icon: 'check', words: 'complete' },
};

export const webhookStates: Readonly<Record<WebhookListed['status'], State>> = {
  waiting: { tone: 'active', icon: 'clock', words: 'waiting' },
  applied: { tone: 'good', icon: 'check', words: 'applied' },
  ignored: { tone: 'quiet', icon: 'none', words: 'ignored' },
};

export const discrepancyStates: Readonly<Record<DiscrepanciesTable['status'], State>> = {
  checking: { tone: 'active', icon: 'turning', words: 'being checked' },
  confirmed: { tone: 'warn', icon: 'warning', words: 'waits for approval' },
  repaired: { tone: 'good', icon: 'check', words: 'repaired' },
  dismissed: { tone: 'quiet', icon: 'none', words: 'dismissed' },
};
