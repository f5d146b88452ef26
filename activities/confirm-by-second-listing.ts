import { confirmBySecondListing as confirmInWarehouse } from '../warehouse/reconcile/confirm-absent.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { resourceOfRun, type ReconcileInput } from './reconcile-input.ts';

/** Confirms what a second complete listing did not show either. */
export async function confirmBySecondListing(
  { warehouse, policies: { lookbackMilliseconds } }: Dependencies,
  input: ReconcileInput,
): Promise<void> {
  await heartbeating(() => confirmInWarehouse(warehouse, { ...resourceOfRun(input), lookbackMilliseconds }));
}
