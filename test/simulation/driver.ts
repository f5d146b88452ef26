import { asyncLocalStorage, Context, type Info } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { createActivities, type Activities } from '../../activities/index.ts';
import type { Dependencies } from '../../activities/dependencies.ts';
import type { StreamOutcome } from '../../activities/finish-run.ts';
import type { DeletionQuestion, ReconcilePlan } from '../../activities/plan-reconcile.ts';
import type { StreamRead } from '../../activities/read-chunk.ts';
import type { Wait } from '../../requests/wait.ts';
import { asApplicationFailure } from '../../worker/failures.ts';
import { OpenSyncs } from './open-syncs.ts';
import { createTickClient } from './create-tick-client.ts';
import { askedMilliseconds } from '../../workflows/asked-milliseconds.ts';
import { mapConcurrently } from '../../workflows/map-concurrently.ts';
import { incomplete } from '../../workflows/incomplete.ts';
import type { AfterWait } from '../../workflows/read-streams.ts';

/**
 * Plays the workflows: the same activities, with the same inputs, in the same order, retried after the same kinds of failure. Where a
 * workflow waits, virtual time passes. `driver.proof.test.ts` compares it with the real ones.
 */
export class Driver {
  readonly #options: DriverOptions;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  /** `adopts`: the run of a tick, which the sync continues. */
  async sync(runId: string, resources: readonly string[], adopts?: { runId: string }): Promise<void> {
    const run = this.#begin('sync', runId);
    const more = adopts === undefined ? {} : { adopts };
    const { streams, adopted } = await run.call('beginRun', { ...run.commonInput, resources, ...more });
    run.commonInput.runId = adopted?.runId ?? runId;
    const lists = await Promise.all(
      streams.filter((stream) => stream !== 'events').map((stream) => run.read(stream)),
    );
    const gotThrough = lists.some(({ state }) => state === 'done');
    const events = streams.includes('events') && gotThrough ? [await run.read('events')] : [];
    const outcomes = [...lists, ...events];
    await run.call('finishRun', {
      ...run.commonInput,
      outcomes,
      firstExecutionRunId: runId,
      cancelled: false,
    });
  }

  /** Plays a tick of a schedule, and the sync that it starts. */
  async tick(runId: string, resources: readonly string[]): Promise<void> {
    const { connection, syncs = new OpenSyncs() } = this.#options;
    const started: Promise<void>[] = [];
    const tick = { isOver: false };
    const run = this.#begin('tick', runId, 'schedule', (isDead) =>
      createTickClient({
        // A given-up attempt that still asks after the end counts as dead.
        isDead: () => isDead() || tick.isOver,
        open: () => syncs.open,
        start: ({ adopts, resources = [] }) => {
          const syncRun = syncs.nameNext(runId);
          const sync = syncs.run(syncRun, () => this.sync(syncRun, resources, adopts));
          // The error is thrown where the sync is awaited below, and must not be an unhandled rejection before.
          sync.catch(() => undefined);
          started.push(sync);
          return syncRun;
        },
      }),
    );
    await run.call('startScheduled', {
      kind: 'sync',
      connection,
      at: 0,
      ...(resources.length === 0 ? {} : { resources: [...resources] }),
    });
    // A given-up attempt may meanwhile start another sync.
    for (const sync of started) await sync;
    tick.isOver = true;
  }

  async reconcile(runId: string, resources: readonly string[], approval?: Approval): Promise<void> {
    const run = this.#begin('reconcile', runId, approval === undefined ? undefined : 'approved');
    const plan = await run.call('planReconcile', { ...run.commonInput, resources });
    const refusal = await deleteNamed(run, { plan, approved: approval?.approved });
    await approval?.judge();
    const ended = {
      ...run.commonInput,
      kind: 'reconcile',
      firstExecutionRunId: runId,
      cancelled: false,
    } as const;
    if (refusal !== undefined) {
      await run.call('finishRun', { ...ended, outcomes: [refusal] });
      return;
    }
    const outcomes = await Promise.all(plan.resources.map((one) => reconcileResource(run, one)));
    await run.call('finishRun', { ...ended, outcomes: outcomes.flat() });
  }

  async backfill(
    runId: string,
    resources: readonly string[],
    days: { from: string; to: string },
  ): Promise<void> {
    const run = this.#begin(`backfill`, runId);
    const { plan, streams } = await run.call('planBackfill', { ...run.commonInput, ...days, resources });
    const of = { ...run.commonInput, kind: 'backfill' as const };
    const outcomes = await mapConcurrently(3, streams, (stream) =>
      run.readInChunks(stream, (after) => run.call('readWindows', { ...of, stream, plan, ...after })),
    );
    await run.call('finishRun', { ...of, outcomes, firstExecutionRunId: runId, cancelled: false });
  }

  async applyWebhooks(runId: string): Promise<void> {
    for (let chunk = 1; ; chunk += 1) {
      const run = this.#begin('webhooks', `${runId}-${chunk}`);
      const { state, wait } = await run.call('applyWebhooks', {
        runId: run.commonInput.runId,
        connection: run.commonInput.connection,
      });
      if (wait !== undefined) await this.#wait(Math.max(askedMilliseconds(wait) ?? 0, 1_000));
      if (state === 'done') return;
    }
  }

  #wait(milliseconds: number): Promise<void> {
    this.#options.onWait?.(milliseconds);
    return this.#options.pass(milliseconds);
  }

  #begin(
    kind: string,
    runId: string,
    reason = 'simulation',
    temporal?: (isDead: () => boolean) => Client,
  ): SimulatedRun {
    const { connection } = this.#options;
    const workflow = { workflowId: `${kind}/${connection}`, runId };
    let calls = 0;
    return createRun(
      { runId, connection, reason },
      (milliseconds) => this.#wait(milliseconds),
      (name, input) => {
        calls += 1;
        this.#options.onCall?.(name, input);
        return this.#attempt({ workflow, activityId: String(calls), name, input, temporal });
      },
    );
  }

  /** Retries until success or a permanent failure, as the retry policy does. */
  async #attempt(call: Call): Promise<unknown> {
    let attempt = 0;
    for (let tried = 1; ; tried += 1) {
      attempt += 1;
      const { isTerminated, worker: workerOf, pass, resets } = this.#options;
      if (isTerminated()) throw new RunTerminated();
      const worker = workerOf(call.activityId);
      const outcome = await Promise.race([
        this.#perform(worker, call, { attempt, tried }).then(
          (result) => ({ result }),
          (error: unknown) => ({ error }),
        ),
        worker.lost.then(() => 'lost' as const),
      ]);
      if (outcome === 'lost' || worker.isDead()) {
        await pass(20_000);
        if (resets === true) attempt = 0;
      } else if ('result' in outcome) {
        return outcome.result;
      } else {
        const failure = asApplicationFailure(outcome.error);
        if (failure.nonRetryable === true) throw failure;
        this.#options.onFailure(failure, outcome.error);
        await pass(Math.min(1_000 * 2 ** (attempt - 1), 20_000));
      }
    }
  }

  /** `tried` counts all attempts; unlike `attempt`, no reset sets it back. */
  #perform(
    worker: SimulatedWorker,
    call: Call,
    { attempt, tried }: { attempt: number; tried: number },
  ): Promise<unknown> {
    const { workflow, activityId, name, input, temporal } = call;
    const key = `${workflow.workflowId} ${activityId.padStart(4, '0')} ${tried} ${name}`;
    const dependencies = worker.dependencies(key);
    const activities = createActivities(
      temporal === undefined ? dependencies : { ...dependencies, temporal: temporal(() => worker.isDead()) },
    );
    const info = { workflowExecution: workflow, activityId, attempt, taskQueue: 'daybook' };
    const perform = (): Promise<unknown> =>
      asyncLocalStorage.run(createContext(info as Info), () => (activities[name] as AnyActivity)(input));
    return worker.withClockError === undefined ? perform() : worker.withClockError(perform);
  }
}

export interface DriverOptions {
  readonly connection: string;
  /** The open syncs of the connection, if several drivers play it at once. */
  readonly syncs?: OpenSyncs;
  /** The worker that is to run an activity now. */
  readonly worker: (activityId: string) => SimulatedWorker;
  readonly pass: (milliseconds: number) => Promise<void>;
  /** Receives the milliseconds that a run waits because the service asked for it. */
  readonly onWait?: (milliseconds: number) => void;
  /** Whether the run was terminated. */
  readonly isTerminated: () => boolean;
  /** Whether a person resets an activity whose worker is lost. */
  readonly resets?: boolean;
  readonly onCall?: (name: string, input: unknown) => void;
  readonly onFailure: (failure: ApplicationFailure, error: unknown) => void;
}

/** A person's approval of the deletions that they were shown. */
export interface Approval {
  /** The deletions that they were shown. */
  readonly approved: DeletionQuestion;
  /** Called when the approved deletions are done, and nothing else. */
  judge(): Promise<void>;
}

/** A worker process as Temporal sees it, with the dependencies of its activities. */
export interface SimulatedWorker {
  /** Resolves when Temporal no longer counts on the process. */
  readonly lost: Promise<void>;
  isDead(): boolean;
  /** Does the work by the clock of this process. */
  withClockError?<Result>(work: () => Result): Result;
  /** The dependencies for one attempt, identified by `key`. */
  dependencies(key: string): Dependencies;
}

/** The workflow was terminated. */
export class RunTerminated extends Error {
  override readonly name = 'RunTerminated';
}

type Name = keyof Activities;
type AnyActivity = (input: unknown) => Promise<unknown>;

interface Call {
  readonly workflow: { readonly workflowId: string; readonly runId: string };
  readonly activityId: string;
  readonly name: Name;
  readonly input: unknown;
  /** The client of Temporal for an attempt, by whether its process is dead. */
  readonly temporal: ((isDead: () => boolean) => Client) | undefined;
}

/** One run of a workflow. */
interface SimulatedRun {
  /** `runId` changes when the run adopts a tick's run. */
  readonly commonInput: { runId: string; connection: string; reason: string };
  call<N extends Name>(
    name: N,
    input: Parameters<Activities[N]>[0],
  ): Promise<Awaited<ReturnType<Activities[N]>>>;
  /** Reads a stream to its end. A failure is an outcome. */
  read(stream: string, kind?: 'reconcile'): Promise<StreamOutcome>;
  readInChunks(stream: string, readChunk: (after: AfterWait) => Promise<StreamRead>): Promise<StreamOutcome>;
  /** Waits if, and as long as, the service told it to. */
  waitIfTold(told: { wait?: Wait }): Promise<AfterWait>;
}

function createRun(
  of: SimulatedRun['commonInput'],
  pass: (milliseconds: number) => Promise<void>,
  attempt: (name: Name, input: unknown) => Promise<unknown>,
): SimulatedRun {
  const run: SimulatedRun = {
    commonInput: of,
    call: (name, input) => attempt(name, input) as ReturnType<typeof run.call<typeof name>>,
    read: (stream, kind) =>
      run.readInChunks(stream, (after) =>
        run.call(stream === 'events' ? 'readEvents' : 'readStream', {
          ...of,
          stream,
          ...after,
          ...(kind === undefined ? {} : { kind }),
        }),
      ),
    async readInChunks(stream, readChunk) {
      try {
        for (let after: AfterWait = {}; ;) {
          const read = await readChunk(after);
          const { state } = read;
          if (state === 'done' || state === 'unsupported') return { stream, state };
          after = await run.waitIfTold(read);
        }
      } catch (error) {
        return failedOutcome(stream, error);
      }
    },
    async waitIfTold({ wait }) {
      if (wait === undefined) return {};
      await pass(Math.max(askedMilliseconds(wait) ?? 5_000, 1_000));
      return { waited: true };
    },
  };
  return run;
}

async function deleteNamed(
  run: SimulatedRun,
  { plan, approved = {} }: { plan: ReconcilePlan; approved: DeletionQuestion | undefined },
): Promise<StreamOutcome | undefined> {
  const { runId, connection } = run.commonInput;
  const resources = Object.keys(approved);
  if (resources.length === 0) return undefined;
  try {
    await run.call('deleteNamed', { runId, connection, resources, approved });
    return undefined;
  } catch (error) {
    return failedOutcome(plan.resources[0]?.streams[0] ?? '', error);
  }
}

async function reconcileResource(
  run: SimulatedRun,
  { resource, streams }: { resource: string; streams: readonly string[] },
): Promise<StreamOutcome[]> {
  const of = { runId: run.commonInput.runId, connection: run.commonInput.connection, resource };
  const list = (): Promise<StreamOutcome[]> =>
    Promise.all(streams.map((stream) => run.read(stream, 'reconcile')));
  for (;;) {
    const listed = await list();
    const gap = incomplete(listed);
    if (gap !== undefined) return gap;
    try {
      const { absent, confirmBy, toFetch } = await run.call('findAbsent', of);
      const unfetchable =
        absent > 0 && confirmBy === 'fetch' && (await confirmByFetch(run, of)) === 'unfetchable';
      const twice = absent > 0 && (confirmBy === 'listing' || unfetchable);
      if (twice) {
        await run.call('listAgain', of);
        const again = await list();
        const second = incomplete(again);
        if (second !== undefined) return second;
        await run.call('confirmBySecondListing', { ...of, unfetchable });
      }
      const fetched = absent > 0 && confirmBy === 'fetch';
      if ((toFetch ?? 0) > 0 && !fetched) {
        const confirmed = await confirmByFetch(run, of);
        if (twice && confirmed === 'unfetchable')
          await run.call('confirmBySecondListing', { ...of, unfetchable: true });
      }
      const { unlisted } = await run.call('settleResource', { ...of, listings: twice ? 2 : 1 });
      if (unlisted === true) continue;
      return listed;
    } catch (error) {
      return streams.map((stream) => failedOutcome(stream, error));
    }
  }
}

async function confirmByFetch(
  run: SimulatedRun,
  of: { runId: string; connection: string; resource: string },
): Promise<'confirmed' | 'unfetchable'> {
  for (let after: AfterWait = {}; ;) {
    const confirmed = await run.call('confirmByFetch', { ...of, ...after });
    if (confirmed.state === 'done') return confirmed.unfetchable === true ? 'unfetchable' : 'confirmed';
    after = await run.waitIfTold(confirmed);
  }
}

/** Turns a failure that the workflow would see into an outcome. Rethrows anything else: a defect of the simulation, or an end of the run. */
function failedOutcome(stream: string, error: unknown): StreamOutcome {
  if (!(error instanceof ApplicationFailure)) throw error;
  const { type, message } = error;
  return { stream, state: 'failed', failureType: type ?? 'Unknown', failure: message };
}

function createContext(info: Info): Context {
  const unused = (): void => undefined;
  const log = { log: unused, trace: unused, debug: unused, info: unused, warn: unused, error: unused };
  const [never, signal] = [new Promise<never>(unused), new AbortController().signal];
  const [metrics, details] = [undefined, {}] as unknown as ConstructorParameters<typeof Context>['6' | '7'][];
  return new Context(info, never, signal, unused, undefined, log, metrics as never, details as never);
}
