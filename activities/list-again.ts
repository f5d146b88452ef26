import { listAgain as listAgainInWarehouse } from '../warehouse/reconcile/confirm-absent.ts';
import type { Dependencies } from './dependencies.ts';
import { resourceOfRun, type ReconcileInput } from './reconcile-input.ts';

/** Opens the streams of the resource for a second listing. */
export async function listAgain({ warehouse }: Dependencies, input: ReconcileInput): Promise<void> {
  await listAgainInWarehouse(warehouse, resourceOfRun(input));
}
