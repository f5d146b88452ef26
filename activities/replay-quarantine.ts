import { resourceNamed } from '../resources/index.ts';
import type { Resource } from '../resources/resource.ts';
import { RequestRefused } from '../source/errors.ts';
import { OtherWorld, readAccess, type ConnectionAccess } from '../warehouse/connections/read-access.ts';
import { heldIds } from '../warehouse/landing/held-ids.ts';
import { readQuarantineEntries, type QuarantineEntry } from '../warehouse/quarantine/read-quarantine.ts';
import { addToRun, type CountsToAdd } from '../warehouse/runs/add-to-run.ts';
import { beginCommandRun, type CommandRun } from '../warehouse/runs/begin-command-run.ts';
import type { StreamOutcome } from '../warehouse/runs/finish-run.ts';
import { askForRecords, type Asking } from './ask-for-records.ts';
import { createCompanyProof } from './company-proof.ts';
import { countRequestsOf } from './counting-client.ts';
import type { Dependencies } from './dependencies.ts';
import { retryingFetch } from './retry-with-deadline.ts';
import { replayEntry } from './replay-entry.ts';

/** An entry as it stands after it was tried. */
export interface ReplayedEntry extends QuarantineEntry {
  /** Why it could not even be tried; null when it was, or is closed. */
  failure: string | null;
}

export interface ReplayInput {
  readonly entries: readonly QuarantineEntry[];
  /** Who or what asked; shown in the runs' rows. */
  readonly reason: string;
}

/**
 * Tries to land records that wait in quarantine, and yields one entry after the other; closed ones stay as they are. Each
 * connection gets a run of its own. Runs outside of Temporal: repeated it does what is left.
 *
 * Throws WrongSecretKey; errors of the database pass through.
 */
export async function* replayQuarantine(
  dependencies: Pick<Dependencies, 'warehouse' | 'api' | 'apiAddress' | 'secretKey'>,
  { entries, reason }: ReplayInput,
): AsyncGenerator<ReplayedEntry> {
  for (const entry of entries.filter((one) => !canBeTried(one))) {
    yield { ...entry, failure: entry.status === 'open' ? nothingToTry : null };
  }
  const tried = entries.filter(canBeTried);
  for (const connectionId of new Set(tried.map(({ connection_id }) => connection_id))) {
    const ofConnection = tried.filter(({ connection_id }) => connection_id === connectionId);
    yield* replayConnection(dependencies, { connectionId, entries: ofConnection, reason });
  }
}

/** An event is no record, whatever it looks like. */
function canBeTried({ status, resource, stream }: QuarantineEntry): boolean {
  return status === 'open' && resourceNamed(resource).streams.some(({ name }) => name === stream);
}

const nothingToTry =
  'An event that does not say what was deleted cannot be tried again: a reconcile finds out, and closes the entry.';

async function* replayConnection(
  dependencies: Parameters<typeof replayQuarantine>[0],
  { connectionId, entries, reason }: ReplayInput & { connectionId: string },
): AsyncGenerator<ReplayedEntry> {
  const { warehouse, secretKey, apiAddress } = dependencies;
  const access = await readAccess(warehouse, secretKey, { connectionId, apiAddress }).catch(asOtherWorld);
  if (access instanceof OtherWorld) {
    for (const entry of entries) yield { ...entry, failure: access.message };
    return;
  }
  const run = await beginCommandRun(warehouse, { connectionId, kind: 'replay', reason });
  try {
    yield* replayInRun(dependencies, { connectionId, entries, run, access });
  } finally {
    // When nobody wants the rest, or when it broke off.
    await run.abandon();
  }
}

async function* replayInRun(
  { warehouse, api }: Pick<Dependencies, 'warehouse' | 'api'>,
  replay: {
    connectionId: string;
    entries: readonly QuarantineEntry[];
    run: CommandRun;
    access: ConnectionAccess;
  },
): AsyncGenerator<ReplayedEntry> {
  const { connectionId, entries, access } = replay;
  const { token: accessToken } = access;
  const { runId } = replay.run;
  const counting = countRequestsOf(api);
  const proof = createCompanyProof({ warehouse }, { connectionId, runId, access, api: counting.api });
  const failures = new Map<string, Error>();
  const asking = createAsking({ warehouse, api: counting.api }, { connectionId, accessToken });
  let allFail: Error | undefined;
  for (const entry of entries) {
    const resource = resourceNamed(entry.resource);
    const { counts, failure } = allFail
      ? { counts: {}, failure: allFail }
      : await replayEntry(warehouse, { entry, resource, runId, proof, ...asking(resource) }).then(
          asCounts,
          asFailure,
        );
    if (failure !== undefined) failures.set(entry.stream, failure);
    // What is no fault of this record awaits the others too.
    if (!(failure instanceof RequestRefused)) allFail ??= failure;
    await addToRun(warehouse.pool, {
      runId,
      connectionId,
      stream: entry.stream,
      counts: { ...counts, requests: counting.takeCount() },
    });
    const [now = entry] = await readQuarantineEntries(warehouse, [entry.id]);
    yield { ...now, failure: failure?.message ?? null };
  }
  const streams = [...new Set(entries.map(({ stream }) => stream))];
  await replay.run.end(streams.map((stream) => outcomeOf(stream, failures.get(stream))));
}

/** How the service is asked for the records of each resource. */
function createAsking(
  { warehouse, api }: Pick<Dependencies, 'warehouse' | 'api'>,
  { connectionId, accessToken }: { connectionId: string; accessToken: string },
): (resource: Resource) => Asking {
  const askings = new Map<Resource, Asking>();
  return (resource) => {
    const readAlive = (): Promise<string[]> => heldIds(warehouse, { connectionId, resource });
    const asking =
      askings.get(resource) ?? askForRecords({ api: retryingFetch(api), resource, accessToken, readAlive });
    askings.set(resource, asking);
    return asking;
  };
}

function asOtherWorld(error: unknown): OtherWorld {
  if (error instanceof OtherWorld) return error;
  throw error;
}

interface Tried {
  counts: CountsToAdd;
  failure?: Error;
}

function asCounts(counts: CountsToAdd): Tried {
  return { counts };
}

/** Our own errors keep an entry where it is; a database that is away, or a defect, ends the replay. */
function asFailure(error: unknown): Tried {
  if (error instanceof Error && 'handling' in error) return { counts: {}, failure: error };
  throw error;
}

function outcomeOf(stream: string, failure: Error | undefined): StreamOutcome {
  if (failure === undefined) return { stream, state: 'done' };
  return { stream, state: 'failed', failureType: failure.name, failure: failure.message };
}
