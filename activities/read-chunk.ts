import type { FindHeld, SourceRecord } from '../resources/source-record.ts';
import type { Bounds, List } from '../source/lists.ts';
import { readPages } from '../source/read-pages.ts';
import { readAccess, type ConnectionAccess } from '../warehouse/connections/read-access.ts';
import type { PageToLand } from '../warehouse/landing/land-page.ts';
import { lookbackOf } from '../warehouse/passes/lookback-of.ts';
import type { Listed, PassInHand } from '../warehouse/passes/pass.ts';
import type { PageFacts } from '../warehouse/passes/record-page.ts';
import { takePass } from '../warehouse/passes/take-pass.ts';
import { beginRun } from '../warehouse/runs/begin-run.ts';
import { readCounts, type StreamCounts } from '../warehouse/runs/read-counts.ts';
import type { PassKind } from '../warehouse/tables/passes.ts';
import { createServiceClock, type ServiceClock, type Taken } from './service-clock.ts';
import { pagesOfChunk, startChunk } from './chunk.ts';
import { createCompanyProof, type NamedCompany } from '../requests/company-proof.ts';
import { createCountingClient, type CountingClient } from '../requests/counting-client.ts';
import { askMissingAgain } from './ask-missing-again.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { createLease } from './create-lease.ts';
import { isAnotherListAnswered } from './is-another-list-answered.ts';
import { runOfActivity } from './run-of-activity.ts';
import { settleReadFailure } from './settle-read-failure.ts';
import type { Wait } from '../requests/wait.ts';

export interface ReadStreamInput {
  runId: string;
  connection: string;
  reason: string;
  stream: string;
  /** Absent: a sync. */
  kind?: PassKind;
  /** The window of a backfill. */
  part?: string;
  /** A wait that the service asked for is over; it is still open whether it concerned this list alone. Absent in histories of releases before 0.6. */
  waited?: true;
}

export interface StreamRead {
  /** more: there are further pages; wait: the service asks for a pause first. */
  state: 'more' | 'done' | 'unsupported' | 'wait';
  wait?: Wait;
  /** The counts of the whole run. */
  counts: StreamCounts;
}

/** What differs between the lists of records and that of events: what is read, and how its pages are landed. */
export interface StreamSource<Page> {
  readonly listed: Listed;
  readonly listWithin: (bounds: Bounds) => List;
  /** Finds the records of one reading's pages that need not be checked again. */
  readonly createFindHeld?: (connectionId: string) => FindHeld;
  readonly prepare: (records: readonly SourceRecord[]) => Page | Promise<Page>;
  /** Whether the page has records, and the connection holds all of them: then the page belongs to its company. */
  readonly holds: (connectionId: string, page: Page) => Promise<boolean>;
  /** Whether a page that is the whole of a sync's pass changes anything, be it only the watermark (in microseconds; -Infinity: none yet). */
  readonly hasNews: (page: Page, watermark: number) => boolean;
  readonly land: (
    landing: Omit<PageToLand, 'resource' | 'page' | 'lookbackMilliseconds'> & { page: Page },
  ) => Promise<PageFacts>;
}

/**
 * Continues a stream from its pass's cursor, for one chunk. Each page is committed with its cursor, so an attempt that dies loses only the
 * current page.
 */
export function readChunk<Page>(
  dependencies: Dependencies,
  input: ReadStreamInput,
  source: StreamSource<Page>,
): Promise<StreamRead> {
  return heartbeating(async (signal) => {
    await beginRun(dependencies.warehouse, runOfActivity(input));
    const runAccess = await readRunAccess(dependencies, input);
    const outcome = await takeAndRead(dependencies, input, {
      source,
      runAccess,
      signal,
      pages: pagesOfChunk,
    });
    return { ...outcome, counts: await readCounts(dependencies.warehouse, input) };
  });
}

export type ChunkOutcome = Omit<StreamRead, 'counts'>;

/** Shared by all reads of one activity: the access, and the company proved so far (`createCompanyProof` fills it in). */
export interface RunAccess {
  readonly access: ConnectionAccess;
  readonly company: NamedCompany;
}

export async function readRunAccess(
  { warehouse, apiAddress, secretKey }: Dependencies,
  { connection }: Pick<ReadStreamInput, 'connection'>,
): Promise<RunAccess> {
  const access = await readAccess(warehouse, secretKey, { connectionId: connection, apiAddress });
  return { access, company: {} };
}

/** Takes the pass and reads at most `pages` pages of it, for an activity that has begun the run. `readChunk` is the activity around it. */
export async function takeAndRead<Page>(
  dependencies: Dependencies,
  input: ReadStreamInput,
  {
    source,
    runAccess,
    signal,
    pages,
  }: { source: StreamSource<Page>; runAccess: RunAccess; signal: AbortSignal; pages: number },
): Promise<ChunkOutcome> {
  const { warehouse, policies } = dependencies;
  const { access } = runAccess;
  const pass = passInHand(input, access);
  const resource = source.listed;
  const lookbackMilliseconds = lookbackOf(resource, policies.lookbackMilliseconds);
  const asked = new Date();
  const taken = await takePass(warehouse, { pass, resource, lookbackMilliseconds });
  if (taken.state !== 'open') return { state: taken.state };
  const serviceClock = createServiceClock(dependencies, { pass, resource, taken, asked });
  const counting = createCountingClient(dependencies.api);
  let othersAnswer = false;
  try {
    if (input.waited === true)
      othersAnswer = await isAnotherListAnswered(warehouse, pass, {
        api: counting.api,
        accessToken: access.token,
        signal,
      });
    return await landPages(dependencies, {
      pass,
      source,
      runAccess,
      counting,
      taken,
      serviceClock,
      signal,
      pages,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const requests = counting.takeCount();
    return await settleReadFailure(dependencies, { pass, resource, requests, error, othersAnswer });
  }
}

async function landPages<Page>(
  dependencies: Dependencies,
  reading: {
    pass: PassInHand;
    source: StreamSource<Page>;
    runAccess: RunAccess;
    counting: CountingClient;
    taken: Taken;
    serviceClock: ServiceClock;
    signal: AbortSignal;
    pages: number;
  },
): Promise<ChunkOutcome> {
  const { stopping, onPageLanded } = dependencies;
  const { pass, source, runAccess, counting, taken, serviceClock, signal } = reading;
  const { connectionId, runId } = pass;
  const { access } = runAccess;
  const proof = createCompanyProof(dependencies, {
    connectionId,
    runId,
    ...runAccess,
    api: counting.api,
    signal,
  });
  const chunk = startChunk(stopping, reading.pages);
  const request = {
    accessToken: access.token,
    ...source.listWithin({ ...taken, expandPlatformData: access.expandPlatformData }),
    cursor: taken.cursor,
    pages: reading.pages,
    findHeld: source.createFindHeld?.(connectionId),
    signal,
  };
  const api = taken.neverAnswered ? askMissingAgain(counting.api, dependencies.pause) : counting.api;
  const pages = readPages(api, request, async ({ records, ...page }, cursor) => ({
    ...page,
    cursor,
    page: await source.prepare(records),
  }));
  for await (const { page, cursor, connection, servedAt, receivedAt, nextCursor } of pages) {
    const isAlone = cursor === null && nextCursor === null;
    const isKnown =
      connection === null &&
      ((isAlone && movesNothing(reading, page)) || (await source.holds(connectionId, page)));
    if (isKnown) await proof.require(null);
    else await proof.requireNow(connection);
    const { heardAt, beginsAgain } = await serviceClock.note({ servedAt, receivedAt });
    if (beginsAgain) return { state: 'more' };
    const started = performance.now();
    const requests = counting.takeCount();
    const counts = await source.land({ pass, page, cursor, requests, servedAt, heardAt, nextCursor });
    onPageLanded({ stream: pass.stream, milliseconds: performance.now() - started, counts });
    if (nextCursor === null) return { state: 'done' };
    if (chunk.pageWasLast()) return { state: 'more' };
  }
  throw new Error(`The pages of ${pass.stream} ended without a last one.`);
}

/**
 * Whether a page that is the whole of a sync's pass would change nothing, not even the watermark; then its company does not matter. Other
 * passes do not qualify: a backfill's window would count as done, and a listing proves something by the records that it does not show.
 */
function movesNothing<Page>(
  { pass, taken, source }: { pass: PassInHand; taken: Taken; source: StreamSource<Page> },
  page: Page,
): boolean {
  if (pass.kind !== 'sync' || taken.highestMilliseconds !== null) return false;
  return !source.hasNews(page, (taken.watermarkMilliseconds ?? -Infinity) * 1_000);
}

function passInHand(
  { connection, stream, kind = 'sync', part = '', runId }: ReadStreamInput,
  access: ConnectionAccess,
): PassInHand {
  const lease = createLease();
  return { connectionId: connection, stream, kind, part, runId, lease, token: access.mark };
}
