import { activityInfo } from '@temporalio/activity';
import { streamNamed } from '../resources/index.ts';
import type { Resource, Stream } from '../resources/resource.ts';
import { CursorRefused, NotSupported } from '../source/errors.ts';
import { readPages } from '../source/read-pages.ts';
import { recordTexts } from '../source/record-texts.ts';
import { readAccess, type ConnectionAccess } from '../warehouse/connections/read-access.ts';
import { landPage } from '../warehouse/landing/land-page.ts';
import { preparePage } from '../warehouse/landing/prepared-page.ts';
import { markUnsupported } from '../warehouse/passes/mark-unsupported.ts';
import { countRequests, noteFailing } from '../warehouse/passes/note-failing.ts';
import type { PassInHand } from '../warehouse/passes/pass.ts';
import { restartPass } from '../warehouse/passes/restart-pass.ts';
import { takePass } from '../warehouse/passes/take-pass.ts';
import { beginRun } from '../warehouse/runs/begin-run.ts';
import { readCounts, type StreamCounts } from '../warehouse/runs/read-counts.ts';
import { startChunk } from './chunk.ts';
import { countRequestsOf, type CountingClient } from './counting-client.ts';
import type { Dependencies } from './dependencies.ts';
import { GaveUp } from './gave-up.ts';
import { handlingOf } from './handling.ts';
import { heartbeating } from './heartbeating.ts';
import { runOf } from './run-of.ts';
import { waitOf, type Wait } from './wait.ts';

export interface ReadStreamInput {
  runId: string;
  connection: string;
  reason: string;
  stream: string;
}

export interface StreamRead {
  /** more: there are further pages; wait: the service wants to be left alone first. */
  state: 'more' | 'done' | 'unsupported' | 'wait';
  wait?: Wait;
  /** Of the whole run. */
  counts: StreamCounts;
}

/**
 * Reads a stream on from where its pass stands, for one chunk. Every page is committed with its cursor, so an attempt that
 * dies costs the page in hand and nothing else.
 */
export function readStream(dependencies: Dependencies, input: ReadStreamInput): Promise<StreamRead> {
  return heartbeating(async (signal) => {
    const outcome = await readChunk(dependencies, input, signal);
    return { ...outcome, counts: await readCounts(dependencies.warehouse, input) };
  });
}

/** A cursor is refused when it has grown old. A service that refuses each one would be read in circles. */
const maximumRestarts = 10;

type ChunkOutcome = Omit<StreamRead, 'counts'>;

async function readChunk(
  dependencies: Dependencies,
  input: ReadStreamInput,
  signal: AbortSignal,
): Promise<ChunkOutcome> {
  const { warehouse, apiAddress, secretKey, lookbackMilliseconds } = dependencies;
  const { stream, resource } = streamNamed(input.stream);
  await beginRun(warehouse, runOf(input));
  const access = await readAccess(warehouse, secretKey, { connectionId: input.connection, apiAddress });
  const pass = passInHand(input);
  const taken = await takePass(warehouse, { pass, stream, resource, lookbackMilliseconds });
  if (taken.state !== 'open') return { state: taken.state };
  const counting = countRequestsOf(dependencies.api);
  try {
    return await readPagesOf(dependencies, { pass, stream, resource, access, counting, ...taken }, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return await settleFailure(dependencies, { pass, resource, requests: counting.takeCount(), error });
  }
}

interface Reading {
  readonly pass: PassInHand;
  readonly stream: Stream;
  readonly resource: Resource;
  readonly access: ConnectionAccess;
  readonly counting: CountingClient;
  readonly cursor: string | null;
  readonly floorMilliseconds: number | null;
}

async function readPagesOf(
  { warehouse, stopping, onPageLanded }: Dependencies,
  { pass, stream, resource, access, counting, cursor, floorMilliseconds }: Reading,
  signal: AbortSignal,
): Promise<ChunkOutcome> {
  const chunk = startChunk(stopping);
  const reading = {
    accessToken: access.token,
    path: resource.listPath,
    plural: resource.name,
    query: queryOf({ stream, resource, access, floorMilliseconds }),
    cursor,
    signal,
  };
  const pages = readPages(counting.api, reading, async ({ text, records, connection, nextCursor }) => ({
    page: await preparePage(resource, { parsed: records, texts: recordTexts(text, resource.name) }),
    identity: connection,
    nextCursor,
  }));
  for await (const { page, identity, nextCursor } of pages) {
    const started = performance.now();
    const requests = counting.takeCount();
    const counts = await landPage(warehouse, { pass, resource, page, identity, requests, nextCursor });
    onPageLanded({ stream: stream.name, milliseconds: performance.now() - started, counts });
    if (nextCursor === null) return { state: 'done' };
    if (chunk.pageWasLast()) return { state: 'more' };
  }
  throw new Error(`The pages of ${stream.name} ended without a last one.`);
}

function queryOf({
  stream,
  resource,
  access,
  floorMilliseconds,
}: Pick<Reading, 'stream' | 'resource' | 'access' | 'floorMilliseconds'>): Record<string, string> {
  const expandable = resource.columns.some(({ name }) => name === 'platform_data');
  return {
    ...stream.query,
    ...(floorMilliseconds === null ? {} : { [stream.floorParameter]: String(floorMilliseconds) }),
    ...(access.expandPlatformData && expandable ? { expand: 'platform_data' } : {}),
  };
}

/** What is to be done about a failure is known by its class; what is to be retried by Temporal is thrown again. */
async function settleFailure(
  { warehouse, lookbackMilliseconds, giveUpAfterMilliseconds }: Dependencies,
  failed: { pass: PassInHand; resource: Resource; requests: number; error: unknown },
): Promise<ChunkOutcome> {
  const { pass, resource, requests, error } = failed;
  if (error instanceof NotSupported) {
    await markUnsupported(warehouse, pass);
    return { state: 'unsupported' };
  }
  if (error instanceof CursorRefused) {
    const restarts = await restartPass(warehouse, { pass, resource, lookbackMilliseconds });
    await countRequests(warehouse, { pass, requests });
    if (restarts > maximumRestarts) throw new GaveUp(pass.stream, `for the ${restarts}th time`, error);
    return { state: 'more' };
  }
  const wait = waitOf(error);
  if (wait !== undefined) {
    await countRequests(warehouse, { pass, requests });
    return { state: 'wait', wait };
  }
  if (error instanceof Error && handlingOf(error) === 'retry') {
    const failingMilliseconds = await noteFailing(warehouse, { pass, requests });
    if (failingMilliseconds > giveUpAfterMilliseconds) {
      throw new GaveUp(pass.stream, `for ${Math.round(failingMilliseconds / 1000)} s`, error);
    }
  } else {
    await countRequests(warehouse, { pass, requests });
  }
  throw error;
}

function passInHand(input: ReadStreamInput): PassInHand {
  const { workflowExecution, activityId, attempt } = activityInfo();
  return {
    connectionId: input.connection,
    stream: input.stream,
    kind: 'sync',
    runId: input.runId,
    lease: `${workflowExecution?.runId ?? ''}/${activityId}/${attempt}`,
  };
}
