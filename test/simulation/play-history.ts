import { randomBytes } from 'node:crypto';
import { readWebhook } from '../../source/read-webhook.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';
import { judgeRequests } from '../day/judge-requests.ts';
import { secretKey } from './dependencies-of.ts';
import { inBursts } from './in-bursts.ts';
import { faultOf } from './fault-of.ts';
import type { Episode, History, Kill, RunKind } from './history.ts';
import { judgeReconcile, judgeSync } from './judge-end.ts';
import { judgeDeletions } from './judge-deletions.ts';
import { playRun, type Played } from './play-run.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { Source } from './source.ts';
import { requestsPer10s, type Stage } from './stage.ts';
import { Turns } from './turns.ts';
import { BrokenPromise, Watch } from './watch.ts';

/** So that there is one of each resource. */
const fewestRecords = 6;

/**
 * Plays a history and holds the product to its promises: after every commit, and at its end, when everything has come to rest.
 * Throws BrokenPromise.
 */
export async function playHistory(stage: Stage, history: History): Promise<Played> {
  const play = await openPlay(stage, history);
  for (const episode of history.episodes) await play.episode(episode);
  await play.rest();
  return play.played;
}

interface Play {
  readonly played: Played;
  episode(episode: Episode): Promise<void>;
  /** No trouble any more: what is not here now is lost. */
  rest(): Promise<void>;
}

async function openPlay(stage: Stage, history: History): Promise<Play> {
  const { admin, clock, warehouse, watcher, apiAddress } = stage;
  const connection = `c-${randomBytes(5).toString('hex')}`;
  const played: Played = { steps: 0, changes: 0, kills: 0, faults: 0, requests: 0, runs: 0, retries: 0 };
  await clock.pass(86_400_000);
  await admin.clearRequests();
  await admin.clearFaults();
  await admin.configure({
    ...{ requestsPer10s: 1_000_000, defaultLimit: history.pageSize, maximumLimit: history.pageSize },
    ...{
      cursor: history.cursor,
      lastCursor: history.lastCursor,
      missingRecordStatus: history.missingRecordStatus,
    },
  });
  await admin.execute(
    { kind: 'set-clock', offsetMs: history.skewHours * 3_600_000 },
    {
      kind: 'add-connection',
      name: connection,
      platform: history.platform,
      records: fewestRecords + history.records,
    },
  );
  const accessToken = `sandbox-token-${connection}`;
  await addConnection(warehouse, secretKey, {
    connectionId: connection,
    apiAddress,
    token: accessToken,
    expandPlatformData: false,
  });
  const reading = { now: false };
  const source = new Source({
    ...{ history, connection, clock, admin },
    isReading: () => reading.now,
    deliver: (body) => post.deliver(body),
  });
  const storeIn =
    (into: Warehouse) =>
    async (body: string): Promise<void> => {
      const webhook = readWebhook(Buffer.from(body));
      if (webhook !== undefined) await storeWebhooks(into, { apiAddress, webhooks: [webhook] });
    };
  const post = { deliver: storeIn(warehouse) };
  await source.open();
  const watch = new Watch({ stage, history, connection, source });
  const end = { stage, history, connection, source };
  const company = { ...end, played };

  async function inTurns(
    plan: Pick<Episode, 'kills' | 'meanwhile' | 'schedule'>,
    kinds: readonly RunKind[],
  ): Promise<void> {
    const meanwhile = [...plan.meanwhile].sort((left, right) => left.step - right.step);
    const kills = [...plan.kills].sort((left, right) => left.step - right.step);
    const turns: Turns = new Turns({
      choose: inBursts(plan.schedule),
      async before(party, step) {
        played.steps += 1;
        for (let next = meanwhile[0]; next !== undefined && next.step <= step; next = meanwhile[0]) {
          meanwhile.shift();
          played.changes += 1;
          await source.apply(next.change);
        }
        // Whoever takes the webhooks is not killed: an answer that is lost makes one come twice, which they do anyhow.
        if (!(party instanceof SimulatedProcess) || party === server) return undefined;
        if (!party.hasStepLeft()) await party.kill();
        const kill = kills[0];
        if (kill === undefined || kill.step > step || party.isDead()) return undefined;
        kills.shift();
        played.kills += 1;
        return befall(party, kill);
      },
      kill: async (party) => (party instanceof SimulatedProcess ? party.kill() : undefined),
      after: async (key) => (key.endsWith(' commit') ? watch.look() : undefined),
      isBlocked: async (pid) => {
        const { rows } = await watcher.query<{ blocked: boolean }>(
          'select cardinality(pg_blocking_pids($1)) > 0 as blocked',
          [pid],
        );
        return rows[0]?.blocked === true;
      },
    });
    const endSession = async (pid: number): Promise<void> => {
      await watcher.query('select pg_terminate_backend($1, 5000)', [pid]);
    };
    const server: SimulatedProcess = new SimulatedProcess(turns, endSession);
    const processes = new Map<string, SimulatedProcess>();
    const started: SimulatedProcess[] = [];
    const processOf = (slot: string): SimulatedProcess => {
      const known = processes.get(slot);
      if (known !== undefined && !known.isDead() && !known.isGivenUp()) return known;
      const fresh = new SimulatedProcess(turns, endSession);
      processes.set(slot, fresh);
      started.push(fresh);
      return fresh;
    };
    const pass = (milliseconds: number): Promise<void> =>
      turns.take({ key: 'time' }, () => clock.pass(milliseconds));
    let arriving = Promise.resolve();
    const store = storeIn(server.warehouse(warehouse.pool, 'server'));
    // It takes its turn among all others: what it writes to may be locked.
    post.deliver = (body) => {
      arriving = arriving.then(() => store(body));
      arriving.catch(() => undefined);
      return Promise.resolve();
    };
    reading.now = true;
    try {
      await turns.during(
        Promise.all(kinds.map((kind) => playRun(company, kind, { pass, processOf }))).then(() => arriving),
      );
    } finally {
      // Who was given up may still run; and after a broken promise everybody does.
      for (const one of [...started, server]) await one.kill();
      reading.now = false;
      post.deliver = storeIn(warehouse);
    }
    for (const { change } of meanwhile) await source.apply(change);
  }

  async function isApprovalWanted(): Promise<boolean> {
    return (await readWaitingDeletions(warehouse, { connectionId: connection })).length > 0;
  }

  const quiet = { kills: [], meanwhile: [], schedule: 1 };
  return {
    played,
    async episode(episode) {
      await source.beginEpisode();
      for (const change of episode.before) await source.apply(change);
      played.changes += episode.before.length;
      for (const fault of episode.faults) await admin.addFault(faultOf(fault, connection));
      await inTurns(episode, episode.runs);
      await admin.clearFaults();
      await watch.look();
      await judgeDeletions(end);
    },
    async rest() {
      await source.beginEpisode();
      // What the service does not offer is asked for again after a day.
      await clock.pass(2 * 86_400_000);
      await inTurns(quiet, ['sync']);
      await judgeSync(end);
      await inTurns(quiet, ['webhooks']);
      await watch.look();
      await inTurns(quiet, ['reconcile']);
      await judgeDeletions(end);
      if (await isApprovalWanted()) await inTurns(quiet, ['approved reconcile']);
      await judgeReconcile(end);
      const requests = await admin.requests();
      played.requests = requests.length;
      played.faults = requests.filter(({ fault }) => fault !== null).length;
      const [complaint] = judgeRequests(requests, { requestsPer10s });
      if (complaint !== undefined) throw new BrokenPromise(complaint);
    },
  };
}

async function befall(
  process: SimulatedProcess,
  { how, stepsLeft }: Kill,
): Promise<'kill after' | undefined> {
  if (how === 'after') return 'kill after';
  if (how === 'before') await process.kill();
  else process.giveUp(stepsLeft);
  return undefined;
}
