import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createCompanyProof } from '../requests/company-proof.ts';
import { confirmGone } from './confirm-gone.ts';
import { TablesElsewhere } from '../iceberg/errors.ts';
import { hostOf } from '../marts/host-of.ts';
import { openOwnLake } from '../lake/own-lake.ts';
import { createApiClient } from '../source/api-client.ts';
import { openApiBudget } from '../warehouse/api-budget/api-budget.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import {
  countContent,
  eraseRecord,
  type RecordNamed,
  type RowsByTable,
} from '../warehouse/erase/erase-record.ts';
import { renewStatistics } from '../warehouse/erase/renew-statistics.ts';
import { ForeignSchema } from '../warehouse/errors.ts';
import { mayListLagBehind, readHeld, type HeldRecord } from '../warehouse/landing/read-held.ts';
import { askOtherHostsToClear, whileNoted, type AskedHost } from '../warehouse/hosts/note-host.ts';
import { lakeOwner } from '../warehouse/snapshots/lake-owner.ts';
import { noteSearched, readUnsearched } from '../warehouse/snapshots/unsearched-snapshots.ts';
import type { MartsTarget } from '../warehouse/tables/marts.ts';
import { eraseFromLake, type SnapshotErased, type WhileErasing } from './erase-from-lake.ts';
import {
  removeSparkMarts,
  renewLakeMarts,
  renewPostgresMarts,
  type Host,
  type Renewing,
} from './renew-marts.ts';
import { SnapshotsUnsearched } from './snapshots-unsearched.ts';
import { unlessKept } from './unless-kept.ts';
import { waitingFor } from './when-free.ts';
import { withRun } from './with-run.ts';
import { firstStream } from '../resources/streams-of.ts';

/** The record's rows before and after, by place. */
export interface Erased {
  readonly held: RowsByTable;
  readonly left: RowsByTable;
  /** Snapshots that were republished without the record. */
  readonly snapshots: readonly SnapshotErased[];
  /** Targets whose marts were rebuilt. */
  readonly marts: readonly MartsTarget[];
  /** All other hosts: a worker there clears the leftovers of exports and builds. */
  readonly hosts: readonly AskedHost[];
  /** A sentence for each place that still holds the record; empty if all is gone. */
  readonly kept: readonly string[];
}

/**
 * Erases the content of a record from everything that Daybook keeps: tables, then snapshots, then marts. Each of these is made from the one
 * before, so the erasure is idempotent, also after a kill. It waits up to an hour for exports, builds and readers in its way. At the end it
 * reports whatever is still in the way, files that object storage does not delete, marts in Postgres that cannot be built without the record, and
 * snapshots that are not in this lake: everything else is done by then, and the run fails. Throws StillReturned, ForeignLake before anything is
 * erased, and the errors of the service, the lake and the builds.
 */
export async function eraseEverywhere(
  { settings, warehouse }: Host,
  record: RecordNamed,
  onStep: (text: string) => void,
  { timeoutMilliseconds = 3_600_000 }: { timeoutMilliseconds?: number } = {},
): Promise<Erased> {
  await requireUsableLake({ settings, warehouse });
  const { connectionId, resource } = record;
  const runId = randomUUID();
  const stream = firstStream(resource);
  const about = { runId, connectionId, kind: 'erase', reason: 'daybook erase', streams: [stream] } as const;
  // The run begins first: it records whose source was asked, even if another connection has the name when the answer comes.
  return withRun(warehouse, about, async (run) => {
    const heldBefore = await readHeld(warehouse.pool, record);
    const goneAt = await askSource({ settings, warehouse }, { ...record, runId, heldBefore });
    const { held, counts } = await eraseRecord(warehouse, { ...record, runId, goneAt, heldBefore });
    run.noteCounted(stream, counts);
    const kept: Error[] = [];
    const onKept = (problem: Error): void => {
      kept.push(problem);
      run.noteFailure(stream, problem);
    };
    for (const problem of await renewStatistics(warehouse, record)) onKept(problem);
    onStep('the tables no longer hold it');
    const renewing = { onStep, onKept, timeoutMilliseconds };
    // If it is killed, files here still hold the record: the next erasure then names this host, wherever it runs.
    const below = await whileNoted(warehouse, await hostOf(settings.marts.home), () =>
      eraseBelow({ settings, warehouse }, record, renewing),
    );
    const left = await countContent(warehouse.pool, record);
    if (Object.values(left).some((rows) => rows > 0)) onKept(new HeldAgain());
    return { held, left, ...below, kept: describeKept(kept) };
  });
}

/** Several steps may meet the same foreign schema, which is reported once; kept files are reported by place. */
function describeKept(kept: readonly Error[]): string[] {
  const again: readonly Error[] = kept.filter((error) => error instanceof ForeignSchema).slice(1);
  return kept.filter((error) => !again.includes(error)).map(({ message }) => message);
}

/** Erases it from everything derived from the tables, the marts in Postgres last: while readers block them, exports may run. */
async function eraseBelow(
  host: Host,
  record: RecordNamed,
  renewing: Renewing,
): Promise<Pick<Erased, 'snapshots' | 'marts' | 'hosts'>> {
  const marts: MartsTarget[] = [];
  try {
    const snapshots = await eraseFromLakes(host, record, {
      ...renewing,
      onMartsRenewed: () => {
        marts.push('lake');
      },
    });
    // Their builds from now on do not hold the record.
    const hosts = await askOtherHostsToClear(host.warehouse, await hostOf(host.settings.marts.home));
    return { snapshots, marts, hosts };
  } finally {
    // Also after an error in the lake.
    await removeSparkMarts(host, renewing);
    if (await renewPostgresMarts(host, renewing)) marts.push('postgres');
  }
}

/** Erases it from the snapshots of this lake, and everything built on them. Snapshots elsewhere are reported. */
async function eraseFromLakes(
  { settings, warehouse }: Host,
  record: RecordNamed,
  { onMartsRenewed, ...renewing }: Renewing & { onMartsRenewed: () => void },
): Promise<SnapshotErased[]> {
  const { onStep } = renewing;
  const { location } = settings.lake;
  const kept: Error[] = [];
  const onKept = (problem: Error): void => {
    kept.push(problem);
    renewing.onKept(problem);
  };
  const updateDependents: WhileErasing['updateDependents'] = async (erased) => {
    onStep(`snapshots published without it: ${erased.length}`);
    if (await renewLakeMarts({ settings, warehouse }, { ...renewing, onKept })) onMartsRenewed();
  };
  const left = 'The snapshots and the marts on the lake were not searched';
  const search = (): Promise<SnapshotErased[]> =>
    eraseFromLake({ settings, warehouse }, record, { updateDependents, onKept, onStep });
  const searched = await unlessKept(onKept, () => waitingFor(renewing)(left, search));
  if (searched !== undefined) onStep('the lake was searched');
  const isSearched = kept.every((problem) => problem instanceof TablesElsewhere);
  if (isSearched) await noteSearched(warehouse.pool, record, location);
  for (const elsewhere of await readUnsearched(warehouse.pool, record))
    if (elsewhere.lake !== location) onKept(new SnapshotsUnsearched(elsewhere, 'elsewhere'));
  return searched ?? [];
}

/** The source has listed or announced the record again since the tables were cleared. */
class HeldAgain extends Error {
  override readonly name = 'HeldAgain';
  readonly handling = 'stop';

  constructor() {
    super(
      'The tables hold it again, because the source returned it in the meantime. Delete it there, and run the command again.',
    );
  }
}

/** Checks the lake before anything is erased. */
async function requireUsableLake({ settings, warehouse }: Host): Promise<void> {
  const { location, scratch } = settings.lake;
  const lake = await openOwnLake({ location, scratch: join(scratch, 'erase') }, await lakeOwner(warehouse));
  await lake.close();
}

/** Returns the service's time at which it had no such record, see `confirmGone`. Throws StillReturned, and the errors of the service. */
async function askSource(
  { settings, warehouse }: Host,
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
