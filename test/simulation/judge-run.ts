import type { Company } from './company.ts';
import { isBuried, readTombstones } from './judge-end.ts';
import { landedLists } from './landed-lists.ts';
import { judgeReplaced } from './replace-connection.ts';
import { judgeRunsAcrossFailover } from './promote-standby.ts';
import { findEra, nameOf, streamOf, equalContentLagMilliseconds, type TrueRecord } from './true-record.ts';
import { InvariantViolation } from './invariant-checker.ts';

/**
 * Called when a run begins; the returned function is called when the run has ended or failed. For every stream that the run reports as
 * succeeded, facts that were true at its beginning and have not changed since must be in the tables. A sync cannot know of everything, a
 * reconcile can.
 */
export async function judgeRun(company: Company, runId: string): Promise<(ended: boolean) => Promise<void>> {
  const { harness, connection, source, environment } = company;
  const before = [...source.records.values()].map((record) => ({ ...record }));
  const began = harness.clock.now();
  const servedFrom = source.now();
  const jumps = environment.databaseJumps.length;
  const foreign = company.token === 'foreign';
  const { removals, lossyFailovers } = company;
  const listedBefore = await landedLists(company);
  const unsupportedBefore = await unsupportedStreams();
  const unfinishedBefore = await readUnfinishedStreams();
  const foreignAnswersBefore = await countForeignAnswers();
  const faultsBefore = (await harness.admin.requests()).filter(({ fault }) => fault !== null).length;
  return async (ended) => {
    const streams = await readStreamsOfRun();
    for (const { stream, status } of streams)
      if (status === 'unsupported' && listedBefore.has(stream))
        throw new InvariantViolation(
          `${stream} counts as unsupported, although the service has listed it before.`,
        );
    await judgeUnsupported(streams);
    judgeRetryTime(streams);
    judgeRememberedStreams(streams);
    await judgeReplaced(company);
    await judgeRunsAcrossFailover(company);
    if (!ended) return;
    await judgeCompleteness(streams);
    await judgeLastAnswer(streams);
    if (foreign) await judgePause();
    // An empty page that names no company does not show which company answered: see "Known and open" in docs/proof.md.
    if ((await countForeignAnswers()) === foreignAnswersBefore) await judgeRecords(streams);
  };

  async function countForeignAnswers(): Promise<number> {
    const requests = await harness.admin.requests();
    return requests.filter((one) => one.connection === connection && one.fault === 'another-connection')
      .length;
  }

  async function judgeRecords(streams: readonly StreamOfRun[]): Promise<void> {
    const proved = new Map(
      streams
        .filter(({ status, kind }) => status === 'succeeded' && ['sync', 'reconcile'].includes(kind))
        .map(({ stream, kind }) => [stream, kind]),
    );
    if (proved.size === 0) return;
    // A list that shows the past cannot show later changes.
    const shown = began - environment.maxListLag;
    const still = before.filter(
      (record) => isSame(record, source.records.get(nameOf(record))) && record.changedAt <= shown,
    );
    const tombstones = await readTombstones(company);
    for (const resource of source.listed) {
      const mine = still.filter((record) => record.resource === resource);
      const held = await readVersions(resource);
      for (const record of mine) {
        const kind = proved.get(record.live ? streamOf(record) : deletionStream(record));
        if (kind === undefined || record.spoiled) continue;
        if (kind === 'sync' && (record.hidden || record.behindWatermark)) continue;
        // The record came late, behind the cursor where an earlier run had stopped. The next sync, which begins before that run began,
        // reads it.
        if (kind === 'sync' && record.backdatedBy > 0 && unfinishedBefore.has(streamOf(record))) continue;
        if (kind === 'sync' && isBuried(record, tombstones.get(nameOf(record)), environment)) continue;
        const version = held.get(record.id);
        if (kind === 'reconcile' && version !== undefined && mayBeLag(record, version, servedFrom)) continue;
        if (
          record.live &&
          (version === undefined || findEra(record, version) < findEra(record, record.version))
        )
          throw new InvariantViolation(
            `A ${kind} says it succeeded, and ${nameOf(record)} is not here as it is.`,
          );
        if (record.live && version !== undefined && version < record.version)
          throw new InvariantViolation(`A ${kind} says it succeeded, and ${nameOf(record)} is not here.`);
        if (!record.live && version !== undefined)
          throw new InvariantViolation(`A ${kind} says it succeeded, and ${nameOf(record)} is still here.`);
      }
    }
  }

  /** Streams that an earlier sync has left with a cursor. */
  async function readUnfinishedStreams(): Promise<ReadonlySet<string>> {
    const { rows } = await harness.watcher.query<{ stream: string }>(
      `select stream from sync.passes where connection_id = $1 and kind = 'sync' and cursor is not null`,
      [connection],
    );
    return new Set(rows.map(({ stream }) => stream));
  }

  async function unsupportedStreams(): Promise<ReadonlySet<string>> {
    const { rows } = await harness.watcher.query<{ stream: string }>(
      `select stream from sync.streams where connection_id = $1 and capability = 'unsupported'`,
      [connection],
    );
    return new Set(rows.map(({ stream }) => stream));
  }

  /**
   * Judges that no stream counts as unsupported after one 404, which may be momentary, unless that was known before. Other runs may have
   * changed what is known.
   */
  async function judgeUnsupported(streams: readonly StreamOfRun[]): Promise<void> {
    const hasty = streams.find(
      ({ stream, status, requests }) =>
        status === 'unsupported' && requests === 1 && !unsupportedBefore.has(stream),
    );
    if (hasty !== undefined && !(await hasConcurrentRuns()))
      throw new InvariantViolation(`${hasty.stream} counts as unsupported after a single 404.`);
  }

  /** Judges that a workflow or a tick has read each stream that it remembers as read, unless its connection was removed or a commit was lost. */
  function judgeRememberedStreams(streams: readonly StreamOfRun[]): void {
    const forgotten = streams.find(({ failure }) => failure?.includes('is not written in the warehouse'));
    if (forgotten !== undefined && company.removals === removals && company.lossyFailovers === lossyFailovers)
      throw new InvariantViolation(
        `A run took ${forgotten.stream} to be read, and had not read it to its end.`,
      );
  }

  /** Judges that each run retries for the whole time allowed. */
  function judgeRetryTime(streams: readonly StreamOfRun[]): void {
    if (environment.databaseJumps.length > jumps) return;
    const spent = harness.clock.now() - began;
    const given = streams.find(({ failure }) => /failed for \d+ s/.test(failure ?? ''));
    if (given !== undefined && spent < giveUpMilliseconds)
      throw new InvariantViolation(
        `A run gave ${given.stream} up after ${Math.round(spent / 1000)} s, before its own retry time was over.`,
      );
  }

  /** Judges that a reconcile does not prove lists equal that it could not read. */
  async function judgeCompleteness(streams: readonly StreamOfRun[]): Promise<void> {
    const [run] = streams;
    if (run?.kind !== 'reconcile' || run.run !== 'succeeded') return;
    for (const resource of source.listed) {
      const lists = resource === 'expenses' ? ['expenses', 'refunds'] : [resource];
      if (
        lists.every((list) => streams.some(({ stream, status }) => stream === list && status === 'succeeded'))
      )
        continue;
      if ((await readVersions(resource)).size > 0)
        throw new InvariantViolation(`A reconcile says it succeeded, and has not listed ${resource}.`);
    }
  }

  /** Judges that the last answer of a reconcile comes from the company that it proves equal. */
  async function judgeLastAnswer(streams: readonly StreamOfRun[]): Promise<void> {
    const [run] = streams;
    if (run?.kind !== 'reconcile' || run.run !== 'succeeded') return;
    const last = (await harness.admin.requests()).findLast((request) => request.connection === connection);
    if (last?.fault !== 'another-connection' || (await hasConcurrentRuns())) return;
    throw new InvariantViolation(
      'A reconcile says it succeeded, and its last answer was of another company.',
    );
  }

  async function hasConcurrentRuns(): Promise<boolean> {
    const { rowCount } = await harness.watcher.query(
      `select from sync.runs other join sync.runs this using (connection_id)
       where this.run_id = $1 and other.run_id <> $1
         and (other.finished_at is null or other.finished_at >= this.started_at)`,
      [runId],
    );
    return rowCount !== 0;
  }

  /** Judges that the first answer reveals the token of another company, which only a person can correct. */
  async function judgePause(): Promise<void> {
    const faults = (await harness.admin.requests()).filter(({ fault }) => fault !== null).length;
    const { rows } = await harness.watcher.query<{
      kind: string;
      status: string;
      paused_by: string | null;
      pinned: boolean;
    }>(
      `select kind, status, paused_by, service_connection_id is not null as pinned
       from sync.runs join sync.connections using (connection_id) where run_id = $1`,
      [runId],
    );
    const [run] = rows;
    if (run === undefined || !['sync', 'reconcile'].includes(run.kind) || !run.pinned) return;
    if (company.token !== 'foreign' || faults > faultsBefore) return;
    if (run.status === 'succeeded' || run.status === 'partial')
      throw new InvariantViolation(`A ${run.kind} with the token of another company is ${run.status}.`);
    if (run.kind === 'sync' && run.paused_by !== 'daybook')
      throw new InvariantViolation('A sync with the token of another company did not pause the connection.');
  }

  /** Streams of the run, with the run's kind and status. */
  async function readStreamsOfRun(): Promise<StreamOfRun[]> {
    const { rows } = await harness.watcher.query<StreamOfRun>(
      `select s.stream, s.status, s.requests::int, s.failure, r.kind, r.status as run
       from sync.run_streams s join sync.runs r using (run_id) where run_id = $1`,
      [runId],
    );
    return rows;
  }

  async function readVersions(resource: string): Promise<Map<string, number>> {
    const version = resource === 'subscriptions' ? 'updated_at' : 'last_synced_at';
    const { rows } = await harness.watcher.query<{ id: string; version: number }>(
      `select id, (extract(epoch from ${version}) * 1000)::float8 as version
       from finance.${resource} where connection_id = $1`,
      [connection],
    );
    return new Map(rows.map(({ id, version: held }) => [id, held]));
  }
}

/** Judges, before anything else is done, the deletions that a person approved after seeing a question. */
export async function judgeApproval(
  { harness, connection }: Company,
  runId: string,
  shown: ReadonlySet<string>,
): Promise<void> {
  const { rows } = await harness.watcher.query<{ name: string }>(
    `select resource || '/' || record_id as name from history.record_versions
     where connection_id = $1 and run_id = $2 and op = 'delete'`,
    [connection, runId],
  );
  const other = rows.filter(({ name }) => !shown.has(name));
  if (other.length > 0)
    throw new InvariantViolation(
      `An approval of ${shown.size} deletions deleted ${other.length} records that nobody had been shown.`,
    );
}

/**
 * Judges that no stream waits longer than the service has asked for, or than a minute until it is ready. If a clock was set meanwhile, an
 * hour is added.
 */
export function judgeWait({ environment }: Company, milliseconds: number): void {
  const { longestRetryAfter, databaseJumps } = environment;
  const most = Math.max(longestRetryAfter + 30_000, 60_000) + (databaseJumps.length > 0 ? 3_600_000 : 0);
  if (milliseconds > most)
    throw new InvariantViolation(
      `A run waits ${Math.round(milliseconds / 1000)} s, and the service asked for ${Math.round(longestRetryAfter / 1000)} s at most.`,
    );
}

const giveUpMilliseconds = 60_000;

interface StreamOfRun {
  stream: string;
  status: string;
  requests: number;
  failure: string | null;
  kind: string;
  run: string;
}

function isSame(before: TrueRecord, now: TrueRecord | undefined): boolean {
  return now?.version === before.version && now.live === before.live && now.deletedAt === before.deletedAt;
}

/** Whether the held version can come from a list that lags: it is a recent, older version of the same content. */
function mayBeLag({ live, sameContent }: TrueRecord, held: number, servedFrom: number): boolean {
  return live && sameContent.has(Math.round(held)) && held >= servedFrom - equalContentLagMilliseconds;
}

/** The stream that shows the deletion of a record: the events, or the list that no longer has it. */
function deletionStream(record: TrueRecord): string {
  return record.announcedAt === null ? streamOf(record) : 'events';
}
