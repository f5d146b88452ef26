import type { Keep } from './retention/prune-warehouse.ts';

/** How careful and how patient Daybook is, as it was configured: handed on as one, from the variables to the step that asks. */
export interface Policies {
  /** How long a list may show the past. */
  readonly lookbackMilliseconds: number;
  /** For how long the requests of a stream may keep failing within one run. */
  readonly giveUpAfterMilliseconds: number;
  /** Share of a resource, 0 to 1, that a reconcile deletes without asking. */
  readonly deleteLimit: number;
  readonly keep: Keep;
}
