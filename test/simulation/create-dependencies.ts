import type { Client } from '@temporalio/client';
import type { Dependencies } from '../../activities/dependencies.ts';
import type { ApiClient } from '../../source/api-client.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { Policies } from '../../warehouse/policies.ts';

export const secretKey: Buffer = Buffer.alloc(32, 'k');

/** The dependencies of activities: real ones for reading and writing, and a client that starts no workflows. */
export function createDependencies({
  lookbackMilliseconds,
  ...parts
}: {
  warehouse: Warehouse;
  api: ApiClient;
  apiAddress: string;
  lookbackMilliseconds: number;
}): Dependencies {
  return {
    ...parts,
    temporal: inertClient,
    schedules: {
      update: () => Promise.resolve(),
      admit: () => Promise.resolve({ admitted: true }),
      admitExport: () => Promise.resolve({ admitted: true }),
    },
    secretKey: () => Promise.resolve(secretKey),
    policies: {
      lookbackMilliseconds,
      giveUpAfterMilliseconds: 60_000,
      deleteLimit: 0.2,
      keep: { runs: null, history: null } as unknown as Policies['keep'],
    },
    exporting: {} as Dependencies['exporting'],
    building: {} as Dependencies['building'],
    searchable: false,
    stopping: new AbortController().signal,
    // Does not pause: a repeated request is sent at once.
    pause: () => Promise.resolve(),
    onPageLanded: () => undefined,
  };
}

/** Starts no workflow, because the history decides which run when. */
const inertClient = {
  workflow: {
    start: () => Promise.resolve({ firstExecutionRunId: '' }),
    signalWithStart: () => Promise.resolve(),
  },
} as unknown as Client;
