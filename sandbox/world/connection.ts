import { platformNamed } from '../api/platforms.ts';
import type { Platform } from '../api/platforms.ts';
import { resourceNames } from '../api/resources.ts';
import type { ResourceName } from '../api/resources.ts';
import type { ChaosProfile } from '../data/chaos-profile.ts';
import { withOddities } from '../data/oddities.ts';
import { createRecordSources } from '../data/record-sources.ts';
import { batchesArrived, inBatches } from './arrival.ts';
import type { Arrival } from './arrival.ts';
import { Collection } from './collection.ts';
import type { DeletionEvent } from './deletion-event.ts';
import { splitRecords } from './split-records.ts';

/** Creates one authorized link to one accounting platform, with everything that the service has read over it. */
export function createConnection(input: ConnectionInput): Connection {
  const platform = platformNamed(input.platform);
  const sources = createRecordSources({
    seed: input.seed,
    connection: input.name,
    platform,
    asOf: input.asOf,
    counts: splitRecords(platform, input.records),
  });
  const { addedAt, readyAt, batches } = input;
  const arrival = { addedAt, readyAt, batches, reachedAt: addedAt };
  const collections = {} as Record<ResourceName, Collection>;
  for (const name of resourceNames)
    collections[name] = new Collection(inBatches(withOddities(sources[name], name, input.chaos), arrival));
  return {
    name: input.name,
    id: `conn-${input.name}`,
    orgId: 'org-sandbox',
    accessToken: input.accessToken ?? `sandbox-token-${input.name}`,
    platformCode: input.platform,
    platform,
    arrival,
    refusal: null,
    collections,
    events: [],
  };
}

/** Whether reads are served: the first sync is finished or, with batches, its first batch has arrived (sections 3 and 7). */
export function isReady(connection: Connection, now: number): boolean {
  return batchesArrived(connection.arrival, now) > 0;
}

export interface ConnectionInput {
  readonly name: string;
  readonly platform: string;
  readonly records: number;
  readonly accessToken?: string | undefined;
  readonly seed: number;
  readonly asOf: number;
  readonly chaos: ChaosProfile;
  readonly addedAt: number;
  readonly readyAt: number | null;
  readonly batches: number;
}

export interface Connection {
  readonly name: string;
  readonly id: string;
  readonly orgId: string;
  readonly accessToken: string;
  readonly platformCode: string;
  readonly platform: Platform;
  readonly arrival: Arrival;
  /** The answer to every request to the connection, if it is refused. */
  refusal: { readonly status: number; readonly code: string } | null;
  readonly collections: Readonly<Record<ResourceName, Collection>>;
  readonly events: DeletionEvent[];
}
