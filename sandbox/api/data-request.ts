import type { ApiVersion } from './api-version.ts';
import type { Parameters } from './parameters.ts';
import type { Settings } from './settings.ts';

/** HTTP status and JSON text. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A request that was let in, about the connection that it opened. */
export interface DataRequest<Opened> {
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
  readonly target: RequestTarget;
  /** As it was sent, with its query. */
  readonly url: string;
  readonly idempotencyKey: string | null;
  /** As it was sent; empty without one. */
  readonly body: string;
}

export interface RequestTarget {
  readonly method: string;
  readonly path: string;
  /** Decoded, without the access token. */
  readonly query: string;
  readonly connection: string | null;
}
