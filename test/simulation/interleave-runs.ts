import { resources as served } from '../../sandbox/api/resources.ts';
import { chooseInBursts } from './choose-in-bursts.ts';
import { applyChange } from './apply-change.ts';
import type { Company } from './company.ts';
import type { Change, Episode, Kill, RunKind } from './history.ts';
import type { ProofJudge } from './judge-proof.ts';
import { playRun } from './play-run.ts';
import { SimulatedProcess, type OnAnswer } from './simulated-process.ts';
import { createStandstillScheduler } from './standstill-scheduler.ts';
import { promoteStandby } from './promote-standby.ts';
import { StepScheduler, type Party } from './step-scheduler.ts';
import type { InvariantChecker } from './invariant-checker.ts';

/** The events that happen to runs. */
export type RunEvents = Pick<Episode, 'kills' | 'meanwhile' | 'standstill' | 'schedule'>;

/** No kills, no changes and no standstill. */
export const noEvents: RunEvents = { kills: [], meanwhile: [], standstill: null, schedule: 1 };

/** A company, and its judges. */
export interface JudgedCompany {
  readonly company: Company;
  readonly invariants: InvariantChecker;
  readonly proofs: ProofJudge;
}

/** Plays runs to their ends at the same time, one step at a time. Only the first one can stand still. */
export async function interleaveRuns(
  judged: readonly JudgedCompany[],
  events: RunEvents,
  runs: readonly [PlannedRun, ...PlannedRun[]],
): Promise<void> {
  const [first, ...others] = runs;
  const companies = judged.map(({ company }) => company);
  const { company } = first;
  const { harness, played } = company;
  const meanwhile = [...events.meanwhile].sort((left, right) => left.step - right.step);
  const kills = [...events.kills].sort((left, right) => left.step - right.step);
  const bursts = chooseInBursts(events.schedule);
  const standstill =
    events.standstill === null
      ? undefined
      : createStandstillScheduler(
          events.standstill,
          `${workflowKind(first.kind)}/${company.connection}`,
          bursts,
        );
  const change = async (one: Change): Promise<void> => {
    await applyChange(companies, one, { betweenRuns: false });
  };
  const scheduler: StepScheduler = new StepScheduler({
    choose: standstill === undefined ? bursts : (keys) => standstill.choose(keys),
    async before(party, step) {
      played.steps += 1;
      for (let next = meanwhile[0]; next !== undefined && next.step <= step; next = meanwhile[0]) {
        meanwhile.shift();
        await change(next.change);
      }
      // The webhook server is never killed: a lost answer would only make a webhook come twice, which happens anyhow.
      if (!(party instanceof SimulatedProcess) || party === server) return undefined;
      if (!party.hasStepLeft()) await party.kill();
      const kill = kills[0];
      if (kill === undefined || kill.step > step || party.isDead()) return undefined;
      kills.shift();
      played.kills += 1;
      if (kill.how === 'lose') for (const one of companies) one.lossyFailovers += 1;
      return applyKill(party, kill);
    },
    kill: async (party) => (party instanceof SimulatedProcess ? party.kill() : undefined),
    async after({ key, party }) {
      if (key.endsWith(' commit')) for (const { invariants } of judged) await invariants.check(key);
      if (key.endsWith(' settleResource commit')) for (const { proofs } of judged) await proofs.check();
      if (events.standstill === null || standstill?.recordStep(key) !== true) return;
      for (const one of events.standstill.changes) await change(one);
      if (events.standstill.stepsLeft !== null) giveUp(party, events.standstill.stepsLeft);
      standstill.letOthersBegin();
    },
    isBlocked: harness.isBlocked,
  });
  const giveUp = (party: Party | undefined, stepsLeft: number): void => {
    if (!(party instanceof SimulatedProcess)) return;
    played.kills += 1;
    party.giveUp(stepsLeft);
  };
  const server: SimulatedProcess = new SimulatedProcess(scheduler, harness.endSession);
  const processes = new Map<string, SimulatedProcess>();
  const started: SimulatedProcess[] = [];
  const end = { isOver: false };
  const getProcess = (slot: string): SimulatedProcess => {
    if (end.isOver) throw new Error('The runs have ended: no process may start.');
    const known = processes.get(slot);
    if (known !== undefined && !known.isDead() && !known.isGivenUp()) return known;
    const fresh = new SimulatedProcess(scheduler, harness.endSession, {
      onAnswer,
      onLostCommit: () => promoteStandby(harness, companies),
    });
    processes.set(slot, fresh);
    started.push(fresh);
    return fresh;
  };
  const onAnswer: OnAnswer = (key, asked) => {
    const [workflow = ''] = key.split(' ');
    const [kind = '', connection] = workflow.split('/');
    const whose = companies.find((one) => one.connection === connection);
    if (whose === undefined) return;
    if (kind === 'reconcile') noteReconcileAnswer(whose, asked);
    if (asked.query !== undefined) noteAnswer(whose, { kind, path: asked.path, query: asked.query });
  };
  const waitUntilAllStored = async (): Promise<void> => {
    for (const { webhookDelivery } of companies) await webhookDelivery.allStored();
  };
  const pass = (milliseconds: number): Promise<void> =>
    scheduler.runStep({ key: 'time' }, () => harness.clock.pass(milliseconds));
  const play = (run: PlannedRun): Promise<void> =>
    playRun(run.company, run.kind, { pass, processOf: getProcess });
  for (const { webhookDelivery } of companies)
    webhookDelivery.storeThrough(server.warehouse(harness.warehouse.pool, 'server'));
  try {
    const overtaken = play(first);
    const overtaking = Promise.race([standstill?.othersMayBegin, overtaken]).then(async () => {
      await waitUntilAllStored();
      await Promise.all(others.map(play));
    });
    await scheduler.runStepsUntil(Promise.all([overtaken, overtaking]).then(waitUntilAllStored));
  } finally {
    end.isOver = true;
    // Given-up processes may still run; after a broken promise all of them do.
    for (const one of [...started, server]) await one.kill();
    for (const { webhookDelivery } of companies) webhookDelivery.storeThrough(undefined);
  }
  for (const one of meanwhile) await change(one.change);
}

export interface PlannedRun {
  readonly company: Company;
  readonly kind: RunKind;
}

/** Records the answer. A page of at most one record, requested to learn which company answers, is not a page of a pass. */
function noteAnswer(
  { answered, passBeganAt, lastServedAt: pages, source, harness, token }: Company,
  answer: { kind: string; path: string; query: Readonly<Record<string, string>> },
): void {
  const { kind, path, query } = answer;
  if (query.limit === '1') return;
  const stream = requestedStream(path, query);
  if (token === 'own') answered.add(stream);
  if (!['sync', 'tick'].includes(kind)) return;
  pages.set(stream, harness.clock.now());
  if (query.cursor === undefined) passBeganAt.set(stream, source.now());
}

/** Records that pages and fetches show the content and its time, and that a page of one record shows only the time. */
function noteReconcileAnswer(
  { reconcileAnswers, source, harness }: Company,
  { path, query }: { path: string; query?: Readonly<Record<string, string>> },
): void {
  const resource = requestedStream(path, {});
  const at = harness.clock.now();
  const known = reconcileAnswers.get(resource);
  if (query?.limit === '1') {
    if (known !== undefined) reconcileAnswers.set(resource, { ...known, askedAt: source.now(), at });
  } else reconcileAnswers.set(resource, { shownAt: source.now(), askedAt: undefined, at });
}

function requestedStream(path: string, { expense_type: type }: Readonly<Record<string, string>>): string {
  if (path === '/events') return 'events';
  if (path === served.expenses.path && type === 'refund') return 'refunds';
  return Object.entries(served).find(([, one]) => one.path === path)?.[0] ?? path;
}

function workflowKind(kind: RunKind): string {
  return kind.split(' ').at(-1) ?? kind;
}

async function applyKill(
  process: SimulatedProcess,
  { how, stepsLeft }: Kill,
): Promise<'kill after' | undefined> {
  if (how === 'after') return 'kill after';
  if (how === 'before') await process.kill();
  else if (how === 'lose') process.loseCommit();
  else process.giveUp(stepsLeft);
  return undefined;
}
