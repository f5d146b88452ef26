import { bill } from '../../support/finance-records.ts';
import { at, type ScriptedService } from '../scripted-service.ts';

/** A run, and the state before it. */
export interface Scenario {
  readonly name: string;
  readonly resources: readonly string[];
  prepare(service: ScriptedService): Promise<void>;
  /** Returns the status of the run. */
  run(service: ScriptedService): Promise<string>;
  /** The status in which it ends without a takeover. */
  readonly expectedStatus: string;
  /** How the data of a failed run are repaired: by the next syncs, or only by the same run again. */
  readonly repairedBy: 'syncs' | 'the same again';
}

/** The status in the row of a run. */
export function runStatus({ status }: Record<string, unknown>): string {
  return typeof status === 'string' ? status : 'no row';
}

/** Further back than syncs read again. */
export const longAgo = -3_600_000;

/** Bills of that time. */
export function old(...ids: string[]): string[] {
  return ids.map((id) => bill(id, { last_synced_at: at(longAgo) }));
}
