import type { FaultTarget } from '../faults/fault-rules.ts';
import type { Connection } from '../world/connection.ts';
import type { ApiVersion } from './api-version.ts';
import type { Parameters } from './parameters.ts';
import type { Settings } from './settings.ts';

/** HTTP status and JSON text. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A request that was let in. */
export interface DataRequest<Opened extends Connection | null = Connection> {
  readonly connection: Opened;
  readonly parameters: Parameters;
  readonly version: ApiVersion;
  readonly settings: Settings;
  /** The service's time, Unix ms. */
  readonly now: number;
  /** Faults: the answer's `next_cursor` leads to the same page again; the page is shorter than asked for. */
  readonly repeatsCursor: boolean;
  readonly atMostRecords: number | null;
  /** What fault rules match. */
  readonly target: FaultTarget;
  /** As it was sent, with its query. */
  readonly url: string;
  readonly idempotencyKey: string | null;
  /** As it was sent; empty without one. */
  readonly body: string;
}
