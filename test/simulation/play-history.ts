import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import { befall, discardNameless, isPinned, rebuild, setOwnToken } from './befall.ts';
import { openCompany, type Company } from './company.ts';
import { faultOf } from './fault-of.ts';
import { listLagOf, type Episode, type History, type RunKind } from './history.ts';
import { inTurns, quietCourse, type Play } from './in-turns.ts';
import { judgeArrivals } from './judge-arrivals.ts';
import { judgeReconcile, judgeSync, judgeTables } from './judge-end.ts';
import { judgeDeletions } from './judge-deletions.ts';
import { ProofJudge } from './judge-proof.ts';
import { judgeEntries } from './judge-quarantine.ts';
import { exportInto, judgeSnapshot } from './judge-snapshot.ts';
import { nothingPlayed, type Played } from './played.ts';
import { landedLists } from './landed-lists.ts';
import type { Stage } from './stage.ts';
import { Surroundings } from './surroundings.ts';
import { surelyShownMilliseconds } from './true-record.ts';
import { BrokenPromise, Watch } from './watch.ts';

/**
 * Plays a history and judges the product's promises: after every commit, after every run, and at its end, when everything has settled.
 * Throws BrokenPromise, or NeverEnds.
 */
export async function playHistory(stage: Stage, history: History): Promise<Played> {
  const { clock, admin } = stage;
  await clock.pass(dayMilliseconds);
  await admin.clearRequests();
  await admin.clearFaults();
  const surroundings = new Surroundings({ history, clock, admin });
  await surroundings.open();
  const companies: Company[] = [];
  for (let place = 0; place < (history.companies ?? 1); place += 1)
    companies.push(await openCompany(stage, { history, surroundings, place }));
  const plays = companies.map((company) => ({
    company,
    watch: new Watch(company, companies),
    proofs: new ProofJudge(company),
  }));
  const folder = await mkdtemp(join(tmpdir(), 'daybook-simulation-'));
  const playing = { stage, plays, surroundings, lake: join(folder, 'lake') };
  try {
    for (const [place, episode] of history.episodes.entries()) {
      await playEpisode(playing, episode);
      const [first] = companies;
      if (place === 0 && history.snapshot && first !== undefined) await exportInto(playing.lake, first);
    }
    await rest(playing);
    return await sumOf({ stage, companies, surroundings });
  } finally {
    await rm(folder, { recursive: true, force: true });
    await surroundings.settle();
  }
}

interface Playing {
  readonly stage: Stage;
  readonly plays: readonly Play[];
  readonly surroundings: Surroundings;
  /** The path of a folder. */
  readonly lake: string;
}

async function playEpisode({ stage, plays, surroundings }: Playing, episode: Episode): Promise<void> {
  const companies = plays.map(({ company }) => company);
  for (const { post } of companies) await post.beginEpisode();
  for (const change of episode.before) await befall(companies, change, { betweenRuns: true });
  for (const { watch } of plays) await watch.begin();
  const [first] = companies;
  for (const fault of episode.faults)
    if (first !== undefined && (fault.kind !== 'another company' || (await knowsItsCompany(first, episode))))
      await stage.admin.addFault(await faultOf(fault, { first, surroundings }));
  const own = episode.runs.flatMap((kind) => (first === undefined ? [] : [{ company: first, kind }]));
  const others = (episode.beside ?? []).flatMap(({ company, run: kind }) => {
    const other = company === 0 ? undefined : companies[company];
    return other === undefined ? [] : [{ company: other, kind }];
  });
  const [begins, ...beside] = [...own, ...others];
  if (begins !== undefined) await inTurns(plays, episode, [begins, ...beside]);
  await stage.admin.clearFaults();
  if (episode.faults.some(({ kind }) => kind === 'another company') && first?.token === 'own')
    await setOwnToken(first);
  for (const { company, watch } of plays) {
    await watch.look();
    await judgeEntries(company);
    await judgeDeletions(company);
  }
}

/** Whether the connection's company is known now, and stays so during the episode: the first answer decides to which company a connection belongs. */
async function knowsItsCompany(company: Company, { runs }: Episode): Promise<boolean> {
  return !runs.includes('replacement') && (await isPinned(company));
}

/** Plays on without any trouble. Whatever is missing after that is lost. */
async function rest({ stage, plays, surroundings, lake }: Playing): Promise<void> {
  await surroundings.settle();
  for (const { company } of plays) {
    await setOwnToken(company);
    await company.post.beginEpisode();
  }
  // A list that the service has never had is requested again after a day.
  for (const { company } of plays)
    if (await isUnlisted(company)) {
      await stage.clock.pass(2 * dayMilliseconds);
      break;
    }
  for (const play of plays) await restOf(play, { plays, lake });
}

async function restOf(on: Play, { plays, lake }: { plays: readonly Play[]; lake: string }): Promise<void> {
  const { company, watch } = on;
  const { warehouse } = company.stage;
  const play = (kind: RunKind): Promise<void> => inTurns(plays, quietCourse, [{ company, kind }]);
  await watch.begin();
  const healed = await streamsAhead(company);
  // The first sync may have to find out that the service has forgotten its cursors.
  if (company.cursorsBroke) await play('sync');
  const continued = await streamsLeft(company);
  await play('sync');
  await judgeSync(company, { healed, continued });
  if (continued.size > 0) {
    await play('sync');
    await judgeSync(company, { healed, continued: new Set() });
  }
  await play('webhooks');
  await watch.look();
  // If a record is younger than a list may lag, or dated in the future, nobody can say whether it is gone or which version is right.
  await company.stage.clock.pass(stillToCome(company) + listLagOf(company.history) + 2_000);
  await play('reconcile');
  await judgeDeletions(company);
  // Where no fetch decides, the list is believed when it says the same twice, further apart than it may lag.
  if (await isUndecided(company)) {
    await company.stage.clock.pass(listLagOf(company.history) + 2_000);
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
async function isUndecided({ stage, connection }: Company): Promise<boolean> {
  const { rowCount } = await stage.watcher.query(
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
function stillToCome({ source }: Company): number {
  const ahead = [...source.records.values()].filter(
    ({ live, version, highest }) => highest > source.now() || (live && highest > version),
  );
  const newest = Math.max(0, ...ahead.map(({ highest }) => highest));
  return Math.max(0, newest + surelyShownMilliseconds - source.now());
}

/** Streams with a watermark in the future, which must be read from their beginning. */
async function streamsAhead({ stage, connection, source, history }: Company): Promise<ReadonlySet<string>> {
  const { rows } = await stage.watcher.query<{ stream: string }>(
    `select stream from sync.streams where connection_id = $1 and watermark > to_timestamp($2::float8 / 1000)`,
    // Clocks of one service's servers may differ by a little.
    [connection, source.now() + Math.min(history.lookbackSeconds * 1000, 60_000) + 3_000],
  );
  return new Set(rows.map(({ stream }) => stream));
}

/** Streams that a sync has read in part, so that the next one continues from there. */
async function streamsLeft({ stage, connection }: Company): Promise<ReadonlySet<string>> {
  const { rows } = await stage.watcher.query<{ stream: string }>(
    `select stream from sync.passes where connection_id = $1 and kind = 'sync' and cursor is not null`,
    [connection],
  );
  return new Set(rows.map(({ stream }) => stream));
}

async function isUnlisted(company: Company): Promise<boolean> {
  const { stage, connection } = company;
  const { rows } = await stage.watcher.query<{ stream: string }>(
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

async function sumOf({
  stage,
  companies,
  surroundings,
}: {
  stage: Stage;
  companies: readonly Company[];
  surroundings: Surroundings;
}): Promise<Played> {
  const sum = nothingPlayed();
  for (const { played } of companies)
    for (const name of Object.keys(sum) as (keyof Played)[]) sum[name] += played[name];
  const requests = await stage.admin.requests();
  sum.webhooks = companies.reduce((total, { post }) => total + post.delivered, 0);
  sum.requests = requests.length;
  sum.faults = requests.filter(({ fault }) => fault !== null).length;
  const [complaint] = judgeArrivals(requests, surroundings);
  if (complaint !== undefined) throw new BrokenPromise(complaint);
  return sum;
}

const dayMilliseconds = 86_400_000;
