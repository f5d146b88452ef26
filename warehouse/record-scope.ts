import type { Resource } from '../resources/resource.ts';

/** The records of one resource of a connection. */
export interface RecordScope {
  readonly connectionId: string;
  readonly resource: Resource;
}

/** The same, for one run. */
export interface RunScope extends RecordScope {
  readonly runId: string;
}

/** The same, in a transaction that has locked them. */
export interface LandingScope extends RunScope {
  /** The time of its writes, as the resource's clock gave it. */
  readonly landedAt: string;
}
