import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import { applyChange, discardNameless, isPinned, rebuild, setOwnToken } from './apply-change.ts';
import { openCompany, type Company } from './company.ts';
import { buildFaultRule } from './build-fault-rule.ts';
import { allowedListLag, type Episode, type History, type RunKind } from './history.ts';
import { interleaveRuns, noEvents, type JudgedCompany } from './interleave-runs.ts';
import { judgeArrivals } from './judge-arrivals.ts';
import { judgeReconcile, judgeSync, judgeTables } from './judge-end.ts';
import { judgeDeletions } from './judge-deletions.ts';
import { ProofJudge } from './judge-proof.ts';
import { judgeListOnlyEntries } from './judge-quarantine.ts';
import { exportInto, judgeSnapshot } from './judge-snapshot.ts';
import { zeroPlayCounts, type PlayCounts } from './play-counts.ts';
import { landedLists } from './landed-lists.ts';
import type { Harness } from './harness.ts';
import { Environment } from './environment.ts';
import { equalContentLagMilliseconds } from './true-record.ts';
import { InvariantViolation, InvariantChecker } from './invariant-checker.ts';

/**
 * Plays a history and judges the product's promises: after every commit, after every run, and at its end, when everything has settled.
 * Throws InvariantViolation, or HistoryTimedOut.
 */
export async function playHistory(harness: Harness, history: History): Promise<PlayCounts> {
  const { clock, admin } = harness;
  await clock.pass(dayMilliseconds);
  await admin.clearRequests();
  await admin.clearFaults();
  const environment = new Environment({ history, clock, admin });
  await environment.open();
  const companies: Company[] = [];
  for (let place = 0; place < (history.companies ?? 1); place += 1)
    companies.push(await openCompany(harness, { history, environment, place }));
  const judged = companies.map((company) => ({
    company,
    invariants: new InvariantChecker(company, companies),
    proofs: new ProofJudge(company),
  }));
  const folder = await mkdtemp(join(tmpdir(), 'daybook-simulation-'));
  const playing = { harness, judged, environment, lake: join(folder, 'lake') };
  try {
    for (const [place, episode] of history.episodes.entries()) {
      await playEpisode(playing, episode);
      const [first] = companies;
      if (place === 0 && history.snapshot && first !== undefined) await exportInto(playing.lake, first);
    }
    await quiesce(playing);
    return await sumCounts({ harness, companies, environment });
  } finally {
    await rm(folder, { recursive: true, force: true });
    await environment.settle();
  }
}

interface HistoryContext {
  readonly harness: Harness;
  readonly judged: readonly JudgedCompany[];
  readonly environment: Environment;
  /** The path of a folder. */
  readonly lake: string;
}

async function playEpisode(
  { harness, judged, environment }: HistoryContext,
  episode: Episode,
): Promise<void> {
  const companies = judged.map(({ company }) => company);
  for (const { webhookDelivery } of companies) await webhookDelivery.beginEpisode();
  for (const change of episode.before) await applyChange(companies, change, { betweenRuns: true });
  for (const { invariants } of judged) await invariants.begin();
  const [first] = companies;
  for (const fault of episode.faults)
    if (first !== undefined && (fault.kind !== 'another company' || (await knowsItsCompany(first, episode))))
      await harness.admin.addFault(await buildFaultRule(fault, { first, environment }));
  const own = episode.runs.flatMap((kind) => (first === undefined ? [] : [{ company: first, kind }]));
  const others = (episode.beside ?? []).flatMap(({ company, run: kind }) => {
    const other = company === 0 ? undefined : companies[company];
    return other === undefined ? [] : [{ company: other, kind }];
  });
  const [begins, ...beside] = [...own, ...others];
  if (begins !== undefined) await interleaveRuns(judged, episode, [begins, ...beside]);
  await harness.admin.clearFaults();
  if (episode.faults.some(({ kind }) => kind === 'another company') && first?.token === 'own')
    await setOwnToken(first);
  for (const { company, invariants } of judged) {
    await invariants.check();
    await judgeListOnlyEntries(company);
    await judgeDeletions(company);
  }
}

/** Whether the connection's company is known now, and stays so during the episode: the first answer decides to which company a connection belongs. */
async function knowsItsCompany(company: Company, { runs }: Episode): Promise<boolean> {
  return !runs.includes('replacement') && (await isPinned(company));
}

/** Plays more runs without faults, and judges the result: anything that is missing after them is lost. */
async function quiesce({ harness, judged, environment, lake }: HistoryContext): Promise<void> {
  await environment.settle();
  for (const { company } of judged) {
    await setOwnToken(company);
    await company.webhookDelivery.beginEpisode();
  }
  // A list that the service has never had is requested again after a day.
  for (const { company } of judged)
    if (await isUnlisted(company)) {
      await harness.clock.pass(2 * dayMilliseconds);
      break;
    }
  for (const play of judged) await quiesceCompany(play, { judged, lake });
}

async function quiesceCompany(
  on: JudgedCompany,
  { judged, lake }: { judged: readonly JudgedCompany[]; lake: string },
): Promise<void> {
  const { company, invariants } = on;
  const { warehouse } = company.harness;
  const play = (kind: RunKind): Promise<void> => interleaveRuns(judged, noEvents, [{ company, kind }]);
  await invariants.begin();
  const readFromStart = await streamsAhead(company);
  // The first sync may have to find out that the service has forgotten its cursors.
  if (company.cursorsBroke) await play('sync');
  const continued = await readUnfinishedStreams(company);
  await play('sync');
  await judgeSync(company, { readFromStart, continued });
  if (continued.size > 0) {
    await play('sync');
    await judgeSync(company, { readFromStart, continued: new Set() });
  }
  await play('webhooks');
  await invariants.check();
  // If a record is younger than a list may lag, or dated in the future, nobody can say whether it is gone or which version is right.
  await company.harness.clock.pass(
    millisecondsUntilNoFutureVersion(company) + allowedListLag(company.history) + 2_000,
  );
  await play('reconcile');
  await judgeDeletions(company);
  // Where no fetch decides, the list is believed when it says the same twice, further apart than it may lag.
  if (await isUndecided(company)) {
    await company.harness.clock.pass(allowedListLag(company.history) + 2_000);
    await play('reconcile');
  }
  // While a record without a usable id exists, no listing proves another record absent.
  if (await isUndecided(company)) {
    await discardNameless(company);
    await play('reconcile');
  }
  const waiting = await readWaitingDeletions(warehouse, { connectionId: company.connection });
  if (waiting.length > 0) await play('approved reconcile');
  await judgeReconcile(company);
  // The decisions of a reconcile must last, although a sync reads again what it has read before.
  await play('sync');
  await judgeTables(company, 'After one more sync');
  if (company.history.rebuild === true) {
    await rebuild(company);
    await judgeTables(company, 'After a rebuild');
  }
  if (company.history.snapshot) await judgeSnapshot(company, lake);
}

/** Whether the reconcile has left a decision to the next one. */
async function isUndecided({ harness, connection }: Company): Promise<boolean> {
  const { rowCount } = await harness.watcher.query(
    `select from sync.discrepancies
     where connection_id = $1 and status = 'checking' and closed_at is null`,
    [connection],
  );
  return rowCount !== 0;
}

/**
 * The time until every version ahead of its record, written while the service's clock was ahead, is long past. A list that shows the same
 * content under a version of the last hour may just lag.
 */
function millisecondsUntilNoFutureVersion({ source }: Company): number {
  const ahead = [...source.records.values()].filter(
    ({ live, version, highest }) => highest > source.now() || (live && highest > version),
  );
  const newest = Math.max(0, ...ahead.map(({ highest }) => highest));
  return Math.max(0, newest + equalContentLagMilliseconds - source.now());
}

/** Streams with a watermark in the future, which must be read from their beginning. */
async function streamsAhead({ harness, connection, source, history }: Company): Promise<ReadonlySet<string>> {
  const { rows } = await harness.watcher.query<{ stream: string }>(
    `select stream from sync.streams where connection_id = $1 and watermark > to_timestamp($2::float8 / 1000)`,
    // Clocks of one service's servers may differ by a little.
    [connection, source.now() + Math.min(history.lookbackSeconds * 1000, 60_000) + 3_000],
  );
  return new Set(rows.map(({ stream }) => stream));
}

/** Streams that a sync has read in part, so that the next one continues from there. */
async function readUnfinishedStreams({ harness, connection }: Company): Promise<ReadonlySet<string>> {
  const { rows } = await harness.watcher.query<{ stream: string }>(
    `select stream from sync.passes where connection_id = $1 and kind = 'sync' and cursor is not null`,
    [connection],
  );
  return new Set(rows.map(({ stream }) => stream));
}

async function isUnlisted(company: Company): Promise<boolean> {
  const { harness, connection } = company;
  const { rows } = await harness.watcher.query<{ stream: string }>(
    `select stream from sync.streams s where connection_id = $1 and capability = 'unsupported'
       and exists (
         select from sync.streams other
         where other.connection_id = $1 and other.capability = 'supported' and other.stream <> 'events'
       )`,
    [connection],
  );
  const listed = await landedLists(company);
  return rows.some(({ stream }) => !listed.has(stream));
}

async function sumCounts({
  harness,
  companies,
  environment,
}: {
  harness: Harness;
  companies: readonly Company[];
  environment: Environment;
}): Promise<PlayCounts> {
  const sum = zeroPlayCounts();
  for (const { played } of companies)
    for (const name of Object.keys(sum) as (keyof PlayCounts)[]) sum[name] += played[name];
  const requests = await harness.admin.requests();
  sum.webhooks = companies.reduce((total, { webhookDelivery }) => total + webhookDelivery.delivered, 0);
  sum.requests = requests.length;
  sum.faults = requests.filter(({ fault }) => fault !== null).length;
  const [violation] = judgeArrivals(requests, environment);
  if (violation !== undefined) throw new InvariantViolation(violation);
  return sum;
}

const dayMilliseconds = 86_400_000;
