import type { Keep } from './retention/prune-warehouse.ts';

/** Configured limits, passed on as one object from the variables to the step that needs them. */
export interface Policies {
  /** How long a list may lag. */
  readonly lookbackMilliseconds: number;
  /** How long the requests of a stream may keep failing within one run. */
  readonly giveUpAfterMilliseconds: number;
  /** Share of a resource, 0 to 1, that a reconcile deletes without asking. */
  readonly deleteLimit: number;
  readonly keep: Keep;
}
