import type { Connection } from '../world/connection.ts';
import type { ApiVersion } from './api-version.ts';
import type { Parameters } from './parameters.ts';
import type { Settings } from './settings.ts';

/** A request for data that was let in. */
export interface DataRequest {
  readonly connection: Connection;
  readonly parameters: Parameters;
  readonly version: ApiVersion;
  readonly settings: Settings;
  /** The service's time, Unix ms. */
  readonly now: number;
  /** Faults: the answer's `next_cursor` leads to the same page again; the page is shorter than asked for. */
  readonly repeatsCursor: boolean;
  readonly atMostRecords: number | null;
}
