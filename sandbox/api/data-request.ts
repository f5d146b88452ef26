import type { ApiVersion } from './api-version.ts';
import type { Parameters } from './parameters.ts';
import type { Settings } from './settings.ts';

/** HTTP status and JSON text. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** An accepted request, with the connection that it opened. */
export interface DataRequest<Opened> {
  readonly connection: Opened;
  readonly parameters: Parameters;
  readonly version: ApiVersion;
  readonly settings: Settings;
  /** The service's time, Unix ms. */
  readonly now: number;
  /** Faults: the answer's `next_cursor` leads to the same page again; the page is shorter than requested. */
  readonly repeatsCursor: boolean;
  readonly atMostRecords: number | null;
  /** The part of the request that fault rules match. */
  readonly target: RequestTarget;
  /** As it was sent, including the query. */
  readonly url: string;
  readonly idempotencyKey: string | null;
  /** As it was sent; empty if there was none. */
  readonly body: string;
}

export interface RequestTarget {
  readonly method: string;
  readonly path: string;
  /** The decoded query, without the access token. */
  readonly query: string;
  readonly connection: string | null;
}
