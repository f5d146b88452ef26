import { randomBytes } from 'node:crypto';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import { judgeRequests } from '../day/judge-requests.ts';
import { secretKey } from './dependencies-of.ts';
import { faultOf } from './fault-of.ts';
import type { Episode, History, RunKind } from './history.ts';
import { inTurns, quietCourse } from './in-turns.ts';
import { judgeReconcile, judgeSync } from './judge-end.ts';
import { judgeDeletions } from './judge-deletions.ts';
import { judgeSnapshot } from './judge-snapshot.ts';
import type { Company } from './play-run.ts';
import { nothingPlayed, type Played } from './played.ts';
import { Post } from './post.ts';
import { Source } from './source.ts';
import { requestsPer10s, type Stage } from './stage.ts';
import { BrokenPromise, Watch } from './watch.ts';

/**
 * Plays a history and holds the product to its promises: after every commit, after every run, and at its end, when everything has
 * come to rest. Throws BrokenPromise, or NeverEnds.
 */
export async function playHistory(stage: Stage, history: History): Promise<Played> {
  const company = await openCompany(stage, history);
  const watch = new Watch(company);
  for (const episode of history.episodes) await playEpisode({ company, watch }, episode);
  await rest({ company, watch });
  if (history.snapshot) await judgeSnapshot(company);
  await judgeAllRequests(company);
  return company.played;
}

/** So that there is one of each resource. */
const fewestRecords = 6;

async function openCompany(stage: Stage, history: History): Promise<Company> {
  const { admin, clock, warehouse, watcher, apiAddress } = stage;
  const connection = `c-${randomBytes(5).toString('hex')}`;
  const { pageSize, cursor, lastCursor, missingRecordStatus, platform, records, skewHours } = history;
  await clock.pass(dayMilliseconds);
  await admin.clearRequests();
  await admin.clearFaults();
  await admin.configure({
    ...{ requestsPer10s: 1_000_000, defaultLimit: pageSize, maximumLimit: pageSize },
    ...{ cursor, lastCursor, missingRecordStatus },
  });
  await admin.execute(
    { kind: 'set-clock', offsetMs: skewHours * 3_600_000 },
    { kind: 'add-connection', name: connection, platform, records: fewestRecords + records },
  );
  const token = `sandbox-token-${connection}`;
  const access = { connectionId: connection, apiAddress, token, expandPlatformData: false };
  await addConnection(warehouse, secretKey, access);
  const post = new Post(stage);
  const source = new Source({ history, connection, clock, admin, post });
  await source.open();
  return {
    ...{ stage, history, connection, source, post, played: nothingPlayed() },
    async isReading() {
      const { rowCount } = await watcher.query(
        `select from sync.passes where connection_id = $1 and kind = 'sync'`,
        [connection],
      );
      return rowCount !== 0;
    },
  };
}

interface Play {
  readonly company: Company;
  readonly watch: Watch;
}

async function playEpisode(on: Play, episode: Episode): Promise<void> {
  const { stage, connection, source, post, played } = on.company;
  const [first, ...others] = episode.runs;
  await post.beginEpisode();
  for (const change of episode.before) await source.apply(change);
  played.changes += episode.before.length;
  for (const fault of episode.faults) await stage.admin.addFault(faultOf(fault, connection));
  if (first !== undefined) await inTurns(on, episode, [first, ...others]);
  await stage.admin.clearFaults();
  await on.watch.look();
  await judgeDeletions(on.company);
}

/** No trouble any more: what is not here then is lost. */
async function rest(on: Play): Promise<void> {
  const { company, watch } = on;
  const { warehouse, clock } = company.stage;
  const play = (kind: RunKind): Promise<void> => inTurns(on, quietCourse, [kind]);
  await company.post.beginEpisode();
  // What the service does not offer is asked for again after a day.
  await clock.pass(2 * dayMilliseconds);
  await play('sync');
  await judgeSync(company);
  await play('webhooks');
  await watch.look();
  await play('reconcile');
  await judgeDeletions(company);
  const waiting = await readWaitingDeletions(warehouse, { connectionId: company.connection });
  if (waiting.length > 0) await play('approved reconcile');
  await judgeReconcile(company);
}

async function judgeAllRequests({ stage, post, played }: Company): Promise<void> {
  const requests = await stage.admin.requests();
  played.webhooks = post.delivered;
  played.requests = requests.length;
  played.faults = requests.filter(({ fault }) => fault !== null).length;
  const [complaint] = judgeRequests(requests, { requestsPer10s });
  if (complaint !== undefined) throw new BrokenPromise(complaint);
}

const dayMilliseconds = 86_400_000;
