import type { Client } from '@temporalio/client';
import type { ApiClient } from '../source/api-client.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { ExportJob } from './export/export-job.ts';
import type { Policies } from '../warehouse/policies.ts';
import type { SecretKey } from '../warehouse/secrets/secret-key.ts';
import type { MartsPlaces } from '../marts/build-target.ts';
import type { Schedules } from './schedules.ts';

/** The dependencies of the activities. Made once, in the worker's composition root. */
export interface Dependencies {
  readonly warehouse: Warehouse;
  readonly api: ApiClient;
  readonly temporal: Client;
  readonly schedules: Schedules;
  /** The address under which connections must have been added; `sandbox` for the embedded one. */
  readonly apiAddress: string;
  readonly secretKey: SecretKey;
  readonly policies: Policies;
  /** Where and how snapshots are exported. */
  readonly exporting: Omit<ExportJob, 'warehouseId' | 'runId' | 'snapshotId'>;
  /** Where and how marts are built. */
  readonly building: MartsPlaces;
  /** Whether Temporal knows our search attributes; workflows must not set them otherwise. */
  readonly searchable: boolean;
  /** Aborted when the worker is asked to stop; a chunk then ends after its current page. */
  readonly stopping: AbortSignal;
  /** Waits within an activity; rejects once aborted. For seconds only: longer waits belong to workflows. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  readonly onPageLanded: (page: { stream: string; milliseconds: number; counts: PageCounts }) => void;
}

export interface PageCounts {
  inserted: number;
  updated: number;
  unchanged: number;
  suppressed: number;
  quarantined: number;
}
