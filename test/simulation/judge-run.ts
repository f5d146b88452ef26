import type { Company } from './company.ts';
import { isBuried, tombstonesOf } from './judge-end.ts';
import { landedLists } from './landed-lists.ts';
import { judgeReplaced } from './replace.ts';
import { judgeOutlived } from './take-over.ts';
import { eraOf, nameOf, streamOf, surelyShownMilliseconds, type TrueRecord } from './true-record.ts';
import { BrokenPromise } from './watch.ts';

/**
 * Called when a run begins; the returned function is called when the run has ended or failed. For every stream that the run reports as
 * succeeded, facts that were true at its beginning and have not changed since must be in the tables. A sync cannot know of everything, a
 * reconcile can.
 */
export async function judgeRun(company: Company, runId: string): Promise<(ended: boolean) => Promise<void>> {
  const { stage, connection, source, surroundings } = company;
  const before = [...source.records.values()].map((record) => ({ ...record }));
  const began = stage.clock.now();
  const servedFrom = source.now();
  const jumps = surroundings.databaseJumps.length;
  const foreign = company.token === 'foreign';
  const { removals, losses } = company;
  const listedBefore = await landedLists(company);
  const unsupportedBefore = await unsupportedStreams();
  const takenUp = await openSyncs();
  const ofOthersBefore = await answersOfOthers();
  const faultsBefore = (await stage.admin.requests()).filter(({ fault }) => fault !== null).length;
  return async (ended) => {
    const streams = await streamsOfRun();
    for (const { stream, status } of streams)
      if (status === 'unsupported' && listedBefore.has(stream))
        throw new BrokenPromise(
          `${stream} counts as unsupported, although the service has listed it before.`,
        );
    await judgeAbsence(streams);
    judgePatience(streams);
    judgeReadings(streams);
    await judgeReplaced(company);
    await judgeOutlived(company);
    if (!ended) return;
    await judgeCompleteness(streams);
    await judgeLastAnswer(streams);
    if (foreign) await judgePause();
    // An empty page that names nobody does not tell whose it is: see "Known and open" in docs/proof.md.
    if ((await answersOfOthers()) === ofOthersBefore) await judgeRecords(streams);
  };

  async function answersOfOthers(): Promise<number> {
    const requests = await stage.admin.requests();
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
    const shown = began - surroundings.mostBehind;
    const still = before.filter(
      (record) => isSame(record, source.records.get(nameOf(record))) && record.changedAt <= shown,
    );
    const tombstones = await tombstonesOf(company);
    for (const resource of source.listed) {
      const mine = still.filter((record) => record.resource === resource);
      const held = await versionsOf(resource);
      for (const record of mine) {
        const kind = proved.get(record.live ? streamOf(record) : deathStreamOf(record));
        if (kind === undefined || record.spoiled) continue;
        if (kind === 'sync' && (record.hidden || record.behind)) continue;
        // The record came late, behind the cursor where an earlier run had stopped. The next sync, which begins before that run began,
        // reads it.
        if (kind === 'sync' && record.backdatedBy > 0 && takenUp.has(streamOf(record))) continue;
        if (kind === 'sync' && isBuried(record, tombstones.get(nameOf(record)), surroundings)) continue;
        const version = held.get(record.id);
        if (kind === 'reconcile' && version !== undefined && mayBeLag(record, version, servedFrom)) continue;
        if (record.live && (version === undefined || eraOf(record, version) < eraOf(record, record.version)))
          throw new BrokenPromise(`A ${kind} says it succeeded, and ${nameOf(record)} is not here as it is.`);
        if (record.live && version !== undefined && version < record.version)
          throw new BrokenPromise(`A ${kind} says it succeeded, and ${nameOf(record)} is not here.`);
        if (!record.live && version !== undefined)
          throw new BrokenPromise(`A ${kind} says it succeeded, and ${nameOf(record)} is still here.`);
      }
    }
  }

  /** Streams that an earlier sync has left with a cursor. */
  async function openSyncs(): Promise<ReadonlySet<string>> {
    const { rows } = await stage.watcher.query<{ stream: string }>(
      `select stream from sync.passes where connection_id = $1 and kind = 'sync' and cursor is not null`,
      [connection],
    );
    return new Set(rows.map(({ stream }) => stream));
  }

  async function unsupportedStreams(): Promise<ReadonlySet<string>> {
    const { rows } = await stage.watcher.query<{ stream: string }>(
      `select stream from sync.streams where connection_id = $1 and capability = 'unsupported'`,
      [connection],
    );
    return new Set(rows.map(({ stream }) => stream));
  }

  /**
   * Judges that no stream counts as unsupported after one 404, which may be momentary, unless that was known before. Other runs may have
   * changed what is known.
   */
  async function judgeAbsence(streams: readonly StreamOfRun[]): Promise<void> {
    const hasty = streams.find(
      ({ stream, status, requests }) =>
        status === 'unsupported' && requests === 1 && !unsupportedBefore.has(stream),
    );
    if (hasty !== undefined && !(await isBesideOthers()))
      throw new BrokenPromise(`${hasty.stream} counts as unsupported after a single 404.`);
  }

  /** Judges that a workflow or a tick has read each stream that it remembers as read, unless its connection was removed or a commit was lost. */
  function judgeReadings(streams: readonly StreamOfRun[]): void {
    const forgotten = streams.find(({ failure }) => failure?.includes('is not written in the warehouse'));
    if (forgotten !== undefined && company.removals === removals && company.losses === losses)
      throw new BrokenPromise(`A run took ${forgotten.stream} to be read, and had not read it to its end.`);
  }

  /** Judges that each run retries for the whole time allowed. */
  function judgePatience(streams: readonly StreamOfRun[]): void {
    if (surroundings.databaseJumps.length > jumps) return;
    const spent = stage.clock.now() - began;
    const given = streams.find(({ failure }) => /failed for \d+ s/.test(failure ?? ''));
    if (given !== undefined && spent < giveUpMilliseconds)
      throw new BrokenPromise(
        `A run gave ${given.stream} up after ${Math.round(spent / 1000)} s: it had no patience of its own.`,
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
      if ((await versionsOf(resource)).size > 0)
        throw new BrokenPromise(`A reconcile says it succeeded, and has not listed ${resource}.`);
    }
  }

  /** Judges that the last answer of a reconcile comes from the company that it proves equal. */
  async function judgeLastAnswer(streams: readonly StreamOfRun[]): Promise<void> {
    const [run] = streams;
    if (run?.kind !== 'reconcile' || run.run !== 'succeeded') return;
    const last = (await stage.admin.requests()).findLast((request) => request.connection === connection);
    if (last?.fault !== 'another-connection' || (await isBesideOthers())) return;
    throw new BrokenPromise('A reconcile says it succeeded, and its last answer was of another company.');
  }

  async function isBesideOthers(): Promise<boolean> {
    const { rowCount } = await stage.watcher.query(
      `select from sync.runs other join sync.runs this using (connection_id)
       where this.run_id = $1 and other.run_id <> $1
         and (other.finished_at is null or other.finished_at >= this.started_at)`,
      [runId],
    );
    return rowCount !== 0;
  }

  /** Judges that the first answer reveals the token of another company, which only a person can correct. */
  async function judgePause(): Promise<void> {
    const faults = (await stage.admin.requests()).filter(({ fault }) => fault !== null).length;
    const { rows } = await stage.watcher.query<{
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
      throw new BrokenPromise(`A ${run.kind} with the token of another company is ${run.status}.`);
    if (run.kind === 'sync' && run.paused_by !== 'daybook')
      throw new BrokenPromise('A sync with the token of another company did not pause the connection.');
  }

  /** Streams of the run, with the run's kind and status. */
  async function streamsOfRun(): Promise<StreamOfRun[]> {
    const { rows } = await stage.watcher.query<StreamOfRun>(
      `select s.stream, s.status, s.requests::int, s.failure, r.kind, r.status as run
       from sync.run_streams s join sync.runs r using (run_id) where run_id = $1`,
      [runId],
    );
    return rows;
  }

  async function versionsOf(resource: string): Promise<Map<string, number>> {
    const version = resource === 'subscriptions' ? 'updated_at' : 'last_synced_at';
    const { rows } = await stage.watcher.query<{ id: string; version: number }>(
      `select id, (extract(epoch from ${version}) * 1000)::float8 as version
       from finance.${resource} where connection_id = $1`,
      [connection],
    );
    return new Map(rows.map(({ id, version: held }) => [id, held]));
  }
}

/** Judges, before anything else is done, the deletions that a person approved after seeing a question. */
export async function judgeApproval(
  { stage, connection }: Company,
  runId: string,
  shown: ReadonlySet<string>,
): Promise<void> {
  const { rows } = await stage.watcher.query<{ name: string }>(
    `select resource || '/' || record_id as name from history.record_versions
     where connection_id = $1 and run_id = $2 and op = 'delete'`,
    [connection, runId],
  );
  const other = rows.filter(({ name }) => !shown.has(name));
  if (other.length > 0)
    throw new BrokenPromise(
      `An approval of ${shown.size} deletions deleted ${other.length} records that nobody had been shown.`,
    );
}

/**
 * Judges that no stream waits longer than the service has asked for, or than a minute until it is ready. If a clock was set meanwhile, an
 * hour is added.
 */
export function judgeWait({ surroundings }: Company, milliseconds: number): void {
  const { longestAsked, databaseJumps } = surroundings;
  const most = Math.max(longestAsked + 30_000, 60_000) + (databaseJumps.length > 0 ? 3_600_000 : 0);
  if (milliseconds > most)
    throw new BrokenPromise(
      `A run waits ${Math.round(milliseconds / 1000)} s, and the service asked for ${Math.round(longestAsked / 1000)} s at most.`,
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
  return live && sameContent.has(Math.round(held)) && held >= servedFrom - surelyShownMilliseconds;
}

/** The stream that shows the end of a record: the events, or the list that no longer has it. */
function deathStreamOf(record: TrueRecord): string {
  return record.announcedAt === null ? streamOf(record) : 'events';
}
