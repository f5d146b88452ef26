import type { RunKind } from '../warehouse/tables/runs.ts';

/** The display name of each kind of run. */
export const runNames: Readonly<Record<RunKind, string>> = {
  sync: 'Sync',
  reconcile: 'Reconcile',
  backfill: 'Backfill',
  export: 'Export',
  marts: 'Build of marts',
  replay: 'Replay',
  rebuild: 'Rebuild',
  erase: 'Erasure',
  webhook: 'Webhooks',
};
