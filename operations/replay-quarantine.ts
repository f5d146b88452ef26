import { isOurs } from '../errors/is-ours.ts';
import { askForRecords, type Asking } from '../requests/ask-for-records.ts';
import { concernsOneAlone, mayConcernOne } from '../requests/concerns-one-alone.ts';
import { createCompanyProof } from '../requests/company-proof.ts';
import { createCountingClient } from '../requests/counting-client.ts';
import { retryingFetch } from '../requests/retry-with-deadline.ts';
import type { Settings } from '../config/settings.ts';
import { resourceNamed } from '../resources/index.ts';
import type { Resource } from '../resources/resource.ts';
import { createApiClient, type ApiClient } from '../source/api-client.ts';
import { RequestRefused } from '../source/errors.ts';
import type { FetchedRecord } from '../source/responses.ts';
import { openApiBudget } from '../warehouse/api-budget/api-budget.ts';
import { OtherWorld, readAccess, type ConnectionAccess } from '../warehouse/connections/read-access.ts';
import { heldIds } from '../warehouse/landing/held-ids.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { readQuarantineEntries, type QuarantineEntry } from '../warehouse/quarantine/read-quarantine.ts';
import type { RecordScope } from '../warehouse/record-scope.ts';
import type { CountsToAdd } from '../warehouse/runs/add-to-run.ts';
import { replayEntry } from './replay-entry.ts';
import { withRun, type OpenRun } from './with-run.ts';

/** An entry after it was tried. */
export interface ReplayedEntry extends QuarantineEntry {
  /** Why it could not even be tried; null if it was, or is closed. */
  failure: string | null;
}

export interface ReplayInput {
  readonly entries: readonly QuarantineEntry[];
  /** Who or what asked; shown in the runs' rows. */
  readonly reason: string;
  readonly onReplayed?: (entry: ReplayedEntry) => void;
  /** Aborts the replay: entries without an answer by then stay open, with the signal's reason, which is one of our own errors. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Tries to land quarantined records; closed entries stay unchanged. Each connection gets a run of its own, and a client of its own for the
 * service, because a command and the console run no worker. If it is repeated, it does the rest. Returns the entries; `onReplayed` receives one
 * after the other.
 *
 * Throws WrongSecretKey; errors of the database pass through.
 */
export async function replayQuarantine(
  settings: Settings,
  warehouse: Warehouse,
  { entries, reason, signal, onReplayed = () => undefined }: ReplayInput,
): Promise<ReplayedEntry[]> {
  const { api: service } = settings;
  const replayed: ReplayedEntry[] = [];
  const say = (entry: ReplayedEntry): void => {
    replayed.push(entry);
    onReplayed(entry);
  };
  for (const entry of entries.filter((one) => !canBeTried(one)))
    say({ ...entry, failure: entry.status === 'open' ? nothingToTry : null });
  const tried = entries.filter(canBeTried);
  const budget = openApiBudget(warehouse, { apiAddress: service.address, ...service });
  const api = createApiClient({ ...service, baseUrl: service.url, budget });
  try {
    for (const connectionId of new Set(tried.map(({ connection_id }) => connection_id))) {
      const ofConnection = tried.filter(({ connection_id }) => connection_id === connectionId);
      await replayConnection(
        { settings, warehouse, api },
        { connectionId, entries: ofConnection, reason, signal, onReplayed: say },
      );
    }
  } finally {
    await api.close();
  }
  return replayed;
}

/** An event is not a record, whatever it looks like. */
function canBeTried({ status, resource, stream }: QuarantineEntry): boolean {
  return status === 'open' && resourceNamed(resource).streams.some(({ name }) => name === stream);
}

const nothingToTry =
  'An event that does not say what was deleted cannot be tried again: a reconcile finds out, and closes the entry.';

interface Tools {
  readonly settings: Settings;
  readonly warehouse: Warehouse;
  readonly api: ApiClient;
}

interface ReplayOfConnection extends ReplayInput {
  readonly connectionId: string;
  readonly onReplayed: (entry: ReplayedEntry) => void;
}

async function replayConnection(tools: Tools, input: ReplayOfConnection): Promise<void> {
  const { settings, warehouse } = tools;
  const { connectionId, entries, reason, signal, onReplayed } = input;
  const { api, secretKey } = settings;
  const access = await readAccess(warehouse, secretKey, { connectionId, apiAddress: api.address }).catch(
    asOtherWorld,
  );
  const leaveOpen = ({ message }: Error): void => {
    for (const entry of entries) onReplayed({ ...entry, failure: message });
  };
  if (access instanceof OtherWorld) {
    leaveOpen(access);
    return;
  }
  const end = reasonToEnd(signal);
  if (end !== undefined) {
    leaveOpen(end);
    return;
  }
  const streams = [...new Set(entries.map(({ stream }) => stream))];
  await withRun(warehouse, { connectionId, kind: 'replay', reason, streams }, (run) =>
    replayInRun(tools, { ...input, run, access }),
  );
}

async function replayInRun(
  { warehouse, api }: Tools,
  replay: ReplayOfConnection & { readonly run: OpenRun; readonly access: ConnectionAccess },
): Promise<void> {
  const { connectionId, entries, run, access, signal, onReplayed } = replay;
  const { runId } = run;
  const counting = createCountingClient(api);
  const proof = createCompanyProof({ warehouse }, { connectionId, runId, access, api: counting.api, signal });
  const asking = createAsking(
    { warehouse, api: counting.api },
    { connectionId, accessToken: access.token, signal },
  );
  /** Errors that are not about a record, by the resource that they concern, or for all. */
  const failing = new Map<Resource | 'all', Error>();
  for (const entry of entries) {
    const resource = resourceNamed(entry.resource);
    const known = reasonToEnd(signal) ?? failing.get('all') ?? failing.get(resource);
    const { counts, failure } = known
      ? { counts: {}, failure: known }
      : await replayEntry(warehouse, { entry, resource, runId, proof, signal, ...asking(resource) }).then(
          asCounts,
          asFailure,
        );
    if (failure !== undefined) run.noteFailure(entry.stream, failure);
    // An error that is not about this record will affect the others too.
    if (failure !== undefined && !(failure instanceof RequestRefused) && known === undefined) {
      const others = await idsToCompare(warehouse, { connectionId, resource, entries, except: entry });
      // Fetches each of the others once: the retries were spent on the record itself.
      const fetch = (id: string): Promise<FetchedRecord> =>
        counting.api.fetch({ accessToken: access.token, resource, id, signal });
      const isAlone = await concernsOneAlone(failure, { others, fetch }).catch(asError);
      const isOfResource = mayConcernOne(isAlone instanceof Error ? isAlone : failure);
      if (isAlone !== true) failing.set(isOfResource ? resource : 'all', failure);
    }
    run.noteCounted(entry.stream, counts);
    await run.count(entry.stream, { requests: counting.takeCount() });
    const [now = gone(entry)] = await readQuarantineEntries(warehouse, [entry.id]);
    onReplayed({ ...now, failure: failure?.message ?? null });
  }
}

/** Reports an entry that no longer exists. */
function gone(entry: QuarantineEntry): QuarantineEntry {
  return { ...entry, status: 'discarded', closed_why: 'the entry was removed meanwhile, as by an erasure' };
}

/** Returns ids of other records that the service should return: held ones, and other quarantined ones. */
async function idsToCompare(
  warehouse: Warehouse,
  {
    entries,
    except,
    ...where
  }: RecordScope & { entries: readonly QuarantineEntry[]; except: QuarantineEntry },
): Promise<string[]> {
  const waiting = entries.filter(({ resource }) => resource === except.resource);
  const ids = [...(await heldIds(warehouse, where)), ...waiting.flatMap(({ record_id }) => record_id ?? [])];
  return ids.filter((id) => id !== except.record_id);
}

function asError(error: unknown): Error {
  if (isOurs(error)) return error;
  throw error;
}

/** Returns the requests to the service for each resource's records. */
function createAsking(
  { warehouse, api }: Pick<Tools, 'warehouse' | 'api'>,
  {
    connectionId,
    accessToken,
    signal,
  }: { connectionId: string; accessToken: string; signal: AbortSignal | undefined },
): (resource: Resource) => Asking {
  const askings = new Map<Resource, Asking>();
  return (resource) => {
    const readAlive = (): Promise<string[]> => heldIds(warehouse, { connectionId, resource });
    const asking =
      askings.get(resource) ??
      askForRecords({ api: retryingFetch(api), resource, accessToken, readAlive, signal });
    askings.set(resource, asking);
    return asking;
  };
}

/** Returns why no more requests may be made; undefined if they may. */
function reasonToEnd(signal: AbortSignal | undefined): Error | undefined {
  return signal?.aborted === true ? asError(signal.reason) : undefined;
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

/** Our own errors leave an entry as it is; an unavailable database, or a defect, ends the replay. */
function asFailure(error: unknown): Tried {
  if (isOurs(error)) return { counts: {}, failure: error };
  throw error;
}
