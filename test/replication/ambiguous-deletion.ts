import { bill } from '../support/finance-records.ts';
import { buildDeletionEvent } from '../support/land-events.ts';
import type { ScriptedService } from './scripted-service.ts';

/**
 * Syncs bill `a` and the others, and then the deletion of `a`, dated in whole seconds, in the same second in which it was touched. Only a
 * reconcile can determine which came first, so one is requested.
 */
export async function syncAmbiguousDeletion(
  service: ScriptedService,
  others: string[],
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const second = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
  const touched = JSON.stringify(new Date(second + 300).toISOString());
  service.lists = { bills: [bill('a', { last_synced_at: touched }), ...others] };
  await service.sync(['bills']);
  await meanwhile();
  service.lists.bills = others;
  service.events = [buildDeletionEvent('a', new Date(second).toISOString().replace('.000', ''))];
  await service.sync(['bills']);
}
