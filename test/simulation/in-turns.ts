import { resources as served } from '../../sandbox/api/resources.ts';
import { inBursts } from './in-bursts.ts';
import { befall } from './befall.ts';
import type { Company } from './company.ts';
import type { Change, Episode, Kill, RunKind } from './history.ts';
import type { ProofJudge } from './judge-proof.ts';
import { playRun } from './play-run.ts';
import { SimulatedProcess, type OnAnswer } from './simulated-process.ts';
import { standStill } from './stand-still.ts';
import { takeOver } from './take-over.ts';
import { Turns, type Party } from './turns.ts';
import type { Watch } from './watch.ts';

/** The events that happen to runs. */
export type Course = Pick<Episode, 'kills' | 'meanwhile' | 'standstill' | 'schedule'>;

/** A course in which nothing happens. */
export const quietCourse: Course = { kills: [], meanwhile: [], standstill: null, schedule: 1 };

/** A company, and its judges. */
export interface Play {
  readonly company: Company;
  readonly watch: Watch;
  readonly proofs: ProofJudge;
}

/** Plays runs to their ends at the same time, one step at a time. Only the first one can stand still. */
export async function inTurns(
  plays: readonly Play[],
  course: Course,
  runs: readonly [PlannedRun, ...PlannedRun[]],
): Promise<void> {
  const [first, ...others] = runs;
  const companies = plays.map(({ company }) => company);
  const { company } = first;
  const { stage, played } = company;
  const meanwhile = [...course.meanwhile].sort((left, right) => left.step - right.step);
  const kills = [...course.kills].sort((left, right) => left.step - right.step);
  const bursts = inBursts(course.schedule);
  const standstill =
    course.standstill === null
      ? undefined
      : standStill(course.standstill, `${workflowOf(first.kind)}/${company.connection}`, bursts);
  const change = async (one: Change): Promise<void> => {
    await befall(companies, one, { betweenRuns: false });
  };
  const turns: Turns = new Turns({
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
      if (kill.how === 'lose') for (const one of companies) one.losses += 1;
      return strike(party, kill);
    },
    kill: async (party) => (party instanceof SimulatedProcess ? party.kill() : undefined),
    async after({ key, party }) {
      if (key.endsWith(' commit')) for (const { watch } of plays) await watch.look(key);
      if (key.endsWith(' settleResource commit')) for (const { proofs } of plays) await proofs.look();
      if (course.standstill === null || standstill?.beginsWith(key) !== true) return;
      for (const one of course.standstill.changes) await change(one);
      if (course.standstill.stepsLeft !== null) giveUp(party, course.standstill.stepsLeft);
      standstill.letOthersBegin();
    },
    isBlocked: stage.isBlocked,
  });
  const giveUp = (party: Party | undefined, stepsLeft: number): void => {
    if (!(party instanceof SimulatedProcess)) return;
    played.kills += 1;
    party.giveUp(stepsLeft);
  };
  const server: SimulatedProcess = new SimulatedProcess(turns, stage.endSession);
  const processes = new Map<string, SimulatedProcess>();
  const started: SimulatedProcess[] = [];
  const end = { isOver: false };
  const processOf = (slot: string): SimulatedProcess => {
    if (end.isOver) throw new Error('Nobody begins anything any more.');
    const known = processes.get(slot);
    if (known !== undefined && !known.isDead() && !known.isGivenUp()) return known;
    const fresh = new SimulatedProcess(turns, stage.endSession, {
      onAnswer,
      onLostCommit: () => takeOver(stage, companies),
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
    if (kind === 'reconcile') noteReading(whose, asked);
    if (asked.query !== undefined) noteAnswer(whose, { kind, path: asked.path, query: asked.query });
  };
  const emptied = async (): Promise<void> => {
    for (const { post } of companies) await post.emptied();
  };
  const pass = (milliseconds: number): Promise<void> =>
    turns.take({ key: 'time' }, () => stage.clock.pass(milliseconds));
  const play = (run: PlannedRun): Promise<void> => playRun(run.company, run.kind, { pass, processOf });
  for (const { post } of companies) post.takeTurns(server.warehouse(stage.warehouse.pool, 'server'));
  try {
    const overtaken = play(first);
    const overtaking = Promise.race([standstill?.begun, overtaken]).then(async () => {
      await emptied();
      await Promise.all(others.map(play));
    });
    await turns.during(Promise.all([overtaken, overtaking]).then(emptied));
  } finally {
    end.isOver = true;
    // Given-up processes may still run; after a broken promise all of them do.
    for (const one of [...started, server]) await one.kill();
    for (const { post } of companies) post.takeTurns(undefined);
  }
  for (const one of meanwhile) await change(one.change);
}

export interface PlannedRun {
  readonly company: Company;
  readonly kind: RunKind;
}

/** Records the answer. A page of at most one record, requested to learn which company answers, is not a page of a pass. */
function noteAnswer(
  { answered, began, served: pages, source, stage, token }: Company,
  answer: { kind: string; path: string; query: Readonly<Record<string, string>> },
): void {
  const { kind, path, query } = answer;
  if (query.limit === '1') return;
  const stream = streamAsked(path, query);
  if (token === 'own') answered.add(stream);
  if (!['sync', 'tick'].includes(kind)) return;
  pages.set(stream, stage.clock.now());
  if (query.cursor === undefined) began.set(stream, source.now());
}

/** Records that pages and fetches show the content and its time, and that a page of one record shows only the time. */
function noteReading(
  { readings, source, stage }: Company,
  { path, query }: { path: string; query?: Readonly<Record<string, string>> },
): void {
  const resource = streamAsked(path, {});
  const at = stage.clock.now();
  const known = readings.get(resource);
  if (query?.limit === '1') {
    if (known !== undefined) readings.set(resource, { ...known, askedAt: source.now(), at });
  } else readings.set(resource, { shownAt: source.now(), askedAt: undefined, at });
}

function streamAsked(path: string, { expense_type: type }: Readonly<Record<string, string>>): string {
  if (path === '/events') return 'events';
  if (path === served.expenses.path && type === 'refund') return 'refunds';
  return Object.entries(served).find(([, one]) => one.path === path)?.[0] ?? path;
}

function workflowOf(kind: RunKind): string {
  return kind.split(' ').at(-1) ?? kind;
}

async function strike(
  process: SimulatedProcess,
  { how, stepsLeft }: Kill,
): Promise<'kill after' | undefined> {
  if (how === 'after') return 'kill after';
  if (how === 'before') await process.kill();
  else if (how === 'lose') process.loseCommit();
  else process.giveUp(stepsLeft);
  return undefined;
}
