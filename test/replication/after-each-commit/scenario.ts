import { bill } from '../../support/finance-records.ts';
import { at, type ScriptedService } from '../scripted-service.ts';

/** A run, and what was before it. */
export interface Scenario {
  readonly name: string;
  readonly resources: readonly string[];
  prepare(service: ScriptedService): Promise<void>;
  /** Returns the status of the run. */
  act(service: ScriptedService): Promise<string>;
  /** How it ends without a takeover. */
  readonly ends: string;
  /** What puts right what a run has left that did not succeed: the syncs that come anyway, or nothing but the same run again. */
  readonly repairedBy: 'syncs' | 'the same again';
}

/** Of a run, as `service` tells it. */
export function statusOf({ status }: Record<string, unknown>): string {
  return typeof status === 'string' ? status : 'no row';
}

/** Past what syncs ask for again. */
export const longAgo = -3_600_000;

/** Bills of then. */
export function old(...ids: string[]): string[] {
  return ids.map((id) => bill(id, { last_synced_at: at(longAgo) }));
}
