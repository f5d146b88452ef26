import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createCompanyProof } from '../activities/company-proof.ts';
import type { ClientBase } from 'pg';
import { confirmGone } from '../activities/confirm-gone.ts';
import { MartsFailed } from '../marts/errors.ts';
import { hostOf } from '../marts/host-of.ts';
import { openOwnLake } from '../lake/own-lake.ts';
import { createApiClient } from '../source/api-client.ts';
import { openApiBudget } from '../warehouse/api-budget.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import {
  countContent,
  eraseRecord,
  type RecordNamed,
  type RowsByTable,
} from '../warehouse/erase/erase-record.ts';
import { mayListLagBehind, readHeld, type HeldRecord } from '../warehouse/erase/read-held.ts';
import { askOtherHostsToClear, type AskedHost } from '../warehouse/hosts/note-host.ts';
import { BuildRunning, withBuildLock } from '../warehouse/marts/build-lock.ts';
import { dropCopies, dropHiddenMarts } from '../warehouse/marts/drop-hidden-marts.ts';
import { readMartsStatus } from '../warehouse/marts/read-marts-status.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { lakeOwner } from '../warehouse/snapshots/lake-owner.ts';
import { ExportRunning } from '../warehouse/snapshots/open-snapshot.ts';
import type { MartsTarget } from '../warehouse/tables/marts.ts';
import { buildMarts } from './build-marts.ts';
import { eraseFromLake, type SnapshotErased } from './erase-from-lake.ts';
import { clearMarts, dropLakeMarts, dropSparkMarts } from './clear-host.ts';
import { withRun } from './with-run.ts';
import type { Settings } from '../config/settings.ts';

/** What was there, and what is. */
export interface Erased {
  readonly held: RowsByTable;
  readonly left: RowsByTable;
  /** Snapshots that were published again without the record. */
  readonly snapshots: readonly SnapshotErased[];
  /** Where the marts were built again. */
  readonly marts: readonly MartsTarget[];
  /** Others that have built marts: a worker there clears what they keep. */
  readonly hosts: readonly AskedHost[];
}

/**
 * Takes the content of a record out of everything that Daybook keeps: tables, then snapshots, then marts. Each is made from the
 * one before, so killed anywhere and called again it ends the same. An export or a build that runs is waited for. Throws
 * StillReturned, ForeignLake before anything is erased, MartsFailed when the marts in Postgres alone still hold it, and what the
 * service, the lake and the builds throw.
 */
export async function eraseEverywhere(
  { settings, warehouse }: { settings: Settings; warehouse: Warehouse },
  record: RecordNamed,
  onStep: (text: string) => void,
): Promise<Erased> {
  await requireLakeOf({ settings, warehouse });
  const { connectionId, resource } = record;
  const runId = randomUUID();
  const stream = resource.streams[0].name;
  const about = { runId, connectionId, kind: 'erase', reason: 'daybook erase', streams: [stream] } as const;
  // The run first: it says whose source was asked, if another connection has the name by the time of the answer.
  return withRun(warehouse, about, async (run) => {
    const heldBefore = await readHeld(warehouse.pool, record);
    const goneAt = await askSource({ settings, warehouse }, { ...record, runId, heldBefore });
    const { held, counts } = await eraseRecord(warehouse, { ...record, runId, goneAt, heldBefore });
    run.noteCounted(stream, counts);
    onStep('the tables no longer hold it');
    let rebuilt: Rebuilt = { marts: [], failure: undefined };
    const follow = async (erased: readonly SnapshotErased[]): Promise<void> => {
      onStep(`snapshots published without it: ${erased.length}`);
      rebuilt = await rebuildMarts({ settings, warehouse }, onStep);
    };
    const snapshots = await whenFree(() => eraseFromLake({ settings, warehouse }, record, follow), onStep);
    // Last: what they build from now on does not hold the record.
    const hosts = await askOtherHostsToClear(warehouse, await hostOf(settings.marts.home));
    if (rebuilt.failure !== undefined) throw rebuilt.failure;
    const left = await countContent(warehouse.pool, record);
    return { held, left, snapshots, marts: rebuilt.marts, hosts };
  });
}

/** Before anything is erased. */
async function requireLakeOf({
  settings,
  warehouse,
}: {
  settings: Settings;
  warehouse: Warehouse;
}): Promise<void> {
  const { location, scratch } = settings.lake;
  const lake = await openOwnLake({ location, scratch: join(scratch, 'erase') }, await lakeOwner(warehouse));
  await lake.close();
}

/** The service's time when it had no such record, as confirmGone has it. Throws StillReturned, and what the service says. */
async function askSource(
  { settings, warehouse }: { settings: Settings; warehouse: Warehouse },
  { heldBefore, ...record }: RecordNamed & { runId: string; heldBefore: HeldRecord | null },
): Promise<Date | null> {
  const { api: service, secretKey, policies } = settings;
  const { connectionId, resource, runId } = record;
  const of = { resource, ...policies };
  const mayLag = heldBefore !== null && (await mayListLagBehind(warehouse.pool, heldBefore, of));
  const access = await readAccess(warehouse, secretKey, { connectionId, apiAddress: service.address });
  const budget = openApiBudget(warehouse, { apiAddress: service.address, ...service });
  const api = createApiClient({ ...service, baseUrl: service.url, budget });
  try {
    const proof = createCompanyProof({ warehouse }, { connectionId, runId, access, api });
    const asked = { ...record, accessToken: access.token, isHeld: heldBefore !== null, mayLag };
    return await confirmGone({ api, proof }, asked);
  } finally {
    await api.close();
  }
}

interface Rebuilt {
  readonly marts: readonly MartsTarget[];
  /** Of the build in Postgres: readers see marts with the record until one gets through. */
  readonly failure: MartsFailed | undefined;
}

/** Where there are any; says where. What builds leave behind that nobody sees is emptied, where no build ever got through too. */
async function rebuildMarts(
  { settings, warehouse }: { settings: Settings; warehouse: Warehouse },
  onStep: (text: string) => void,
): Promise<Rebuilt> {
  const status = await readMartsStatus(warehouse);
  const built = (['postgres', 'lake'] as const).filter((target) => status[target].as_of_date !== null);
  await whenFree(() => clearMarts({ settings, warehouse }), onStep);
  // Spark may be nowhere near: what it made goes, and whoever has it builds it again.
  if (await whenFree(() => dropSparkMarts({ settings, warehouse }), onStep))
    onStep('the marts on Spark are removed: build them again with "daybook dbt build --target spark"');
  const marts: MartsTarget[] = [];
  let failure: MartsFailed | undefined;
  for (const target of built) {
    const asked = { target, reason: 'daybook erase', connections: 1 };
    try {
      await whenFree(() => buildMarts({ settings, warehouse }, asked, onStep), onStep);
      marts.push(target);
    } catch (error) {
      // A model fails by what any company has in its books, at every try: the record would stay in the snapshots, and in the marts of them.
      if (!(error instanceof MartsFailed)) throw error;
      if (target === 'postgres') {
        failure = error;
        onStep(
          'the marts in Postgres still hold it, for they could not be built without it: once that is mended, run this command again',
        );
        continue;
      }
      await whenFree(() => dropLakeMarts({ settings, warehouse }), onStep);
      onStep(
        `the marts on the lake are removed, for they could not be built without it (${error.message}): ` +
          'once that is mended, build them again with "daybook dbt build --target lake"',
      );
    }
  }
  const ours = { databaseUrl: settings.database.directUrl, target: 'postgres' } as const;
  const emptied = async (client: ClientBase): Promise<void> => {
    if (!built.includes('postgres')) await dropCopies(client);
    await dropHiddenMarts(client);
  };
  await whenFree(() => withBuildLock(ours, (lock) => lock.inSession(emptied)), onStep);
  return { marts, failure };
}

async function whenFree<Result>(
  work: () => Promise<Result>,
  onStep: (text: string) => void,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ExportRunning || error instanceof BuildRunning)) throw error;
      onStep('waiting for an export or a build of the marts that runs');
      await wait(2_000);
    }
  }
}
