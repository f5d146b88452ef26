import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createCompanyProof } from '../activities/company-proof.ts';
import type { ClientBase } from 'pg';
import { confirmGone } from '../activities/confirm-gone.ts';
import { keptBack, LakeKeeps } from '../lake/errors.ts';
import { MartsFailed, NoSnapshot } from '../marts/errors.ts';
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
import { renewStatistics } from '../warehouse/erase/renew-statistics.ts';
import { mayListLagBehind, readHeld, type HeldRecord } from '../warehouse/erase/read-held.ts';
import { askOtherHostsToClear, type AskedHost } from '../warehouse/hosts/note-host.ts';
import { BuildRunning, withBuildLock } from '../warehouse/marts/build-lock.ts';
import { dropCopies, dropHiddenMarts } from '../warehouse/marts/drop-hidden-marts.ts';
import { readMartsStatus } from '../warehouse/marts/read-marts-status.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { lakeOwner } from '../warehouse/snapshots/lake-owner.ts';
import { ExportRunning } from '../warehouse/snapshots/open-snapshot.ts';
import { noteSearched, readUnsearched } from '../warehouse/snapshots/unsearched-snapshots.ts';
import type { MartsTarget } from '../warehouse/tables/marts.ts';
import { buildMarts } from './build-marts.ts';
import { eraseFromLake, type SnapshotErased, type WhileErasing } from './erase-from-lake.ts';
import { clearMarts, dropLakeMarts, dropSparkMarts } from './clear-host.ts';
import { SnapshotsUnsearched } from './snapshots-unsearched.ts';
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
  /** All others: a worker there clears what exports and builds have left. */
  readonly hosts: readonly AskedHost[];
  /** What still holds the record, and why; none when all is gone. */
  readonly kept: readonly string[];
}

/**
 * Takes the content of a record out of everything that Daybook keeps: tables, then snapshots, then marts. Each is made from the
 * one before, so killed anywhere and called again it ends the same. An export or a build that runs is waited for. What object storage
 * does not remove, marts in Postgres that cannot be built without it, and snapshots that are not in this lake, are told at the end, when
 * everything else is done, and fail the run. Throws StillReturned, ForeignLake before anything is erased, and what the service, the lake and the builds throw.
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
    const marts: MartsTarget[] = [];
    const kept: Error[] = [];
    const onKept = (problem: Error): void => {
      kept.push(problem);
      run.noteFailure(stream, problem);
    };
    for (const problem of await renewStatistics(warehouse, record)) onKept(problem);
    onStep('the tables no longer hold it');
    const follow: WhileErasing['follow'] = async (erased) => {
      onStep(`snapshots published without it: ${erased.length}`);
      marts.push(...(await rebuildMarts({ settings, warehouse }, { onStep, onKept })));
    };
    const snapshots = await whenFree(
      () => eraseFromLake({ settings, warehouse }, record, { follow, onKept }),
      onStep,
    );
    const { location } = settings.lake;
    if (kept.length === 0) await noteSearched(warehouse.pool, record, location);
    for (const elsewhere of await readUnsearched(warehouse.pool, record))
      if (elsewhere.lake !== location) onKept(new SnapshotsUnsearched(elsewhere, { isHere: false }));
    // Last: what they build from now on does not hold the record.
    const hosts = await askOtherHostsToClear(warehouse, await hostOf(settings.marts.home));
    const left = await countContent(warehouse.pool, record);
    return { held, left, snapshots, marts, hosts, kept: kept.map(({ message }) => message) };
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

/** Where there are any; says where. What builds leave behind that nobody sees is emptied, where no build ever got through too. */
async function rebuildMarts(
  { settings, warehouse }: { settings: Settings; warehouse: Warehouse },
  { onStep, onKept }: { onStep: (text: string) => void; onKept: (problem: Error) => void },
): Promise<MartsTarget[]> {
  /** Whether it was done. */
  const removing = async (work: () => Promise<void>): Promise<boolean> => {
    const kept = await keptBack(() => whenFree(work, onStep));
    if (kept !== undefined) onKept(kept);
    return kept === undefined;
  };
  const status = await readMartsStatus(warehouse);
  const built = (['postgres', 'lake'] as const).filter((target) => status[target].as_of_date !== null);
  await removing(() => clearMarts({ settings, warehouse }));
  // Spark may be nowhere near: what it made goes, and whoever has it builds it again.
  await removing(async () => {
    if (await dropSparkMarts({ settings, warehouse }))
      onStep('the marts on Spark are removed: build them again with "daybook dbt build --target spark"');
  });
  const rebuilt: MartsTarget[] = [];
  for (const target of built) {
    const asked = { target, reason: 'daybook erase', connections: 1 };
    try {
      await whenFree(() => buildMarts({ settings, warehouse }, asked, onStep), onStep);
      rebuilt.push(target);
    } catch (error) {
      // By then the new ones are published.
      if (error instanceof LakeKeeps) {
        onKept(error);
        continue;
      }
      // No mart was ever built here: where they were, is told with the snapshots that were not searched.
      if (error instanceof NoSnapshot) continue;
      // A model fails by what any company has in its books, at every try: the record would stay in the snapshots, and in the marts of them.
      if (!(error instanceof MartsFailed)) throw error;
      if (target === 'postgres') {
        onStep('the marts in Postgres still hold it, for they could not be built without it');
        onKept(error);
        continue;
      }
      if (await removing(() => dropLakeMarts({ settings, warehouse })))
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
  return rebuilt;
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
