import type { RunKind } from '../warehouse/tables/runs.ts';

/** What people call a run of each kind. */
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
