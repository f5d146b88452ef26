import { inBursts } from './in-bursts.ts';
import type { Change, Episode, Kill, RunKind } from './history.ts';
import { playRun, type Company } from './play-run.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { standStill } from './stand-still.ts';
import { Turns, type Party } from './turns.ts';
import type { Watch } from './watch.ts';

/** What befalls runs. */
export type Course = Pick<Episode, 'kills' | 'meanwhile' | 'standstill' | 'schedule'>;

/** Nothing does. */
export const quietCourse: Course = { kills: [], meanwhile: [], standstill: null, schedule: 1 };

/** Plays runs of a company at the same time, one step at a time, to their ends. */
export async function inTurns(
  { company, watch }: { company: Company; watch: Watch },
  course: Course,
  kinds: readonly [RunKind, ...RunKind[]],
): Promise<void> {
  const { stage, source, post, played } = company;
  const meanwhile = [...course.meanwhile].sort((left, right) => left.step - right.step);
  const kills = [...course.kills].sort((left, right) => left.step - right.step);
  const [first, ...others] = kinds;
  const bursts = inBursts(course.schedule);
  const standstill =
    course.standstill === null ? undefined : standStill(course.standstill, workflowOf(first), bursts);
  const change = async (one: Change): Promise<void> => {
    played.changes += 1;
    await source.apply(one);
  };
  const turns: Turns = new Turns({
    choose: standstill === undefined ? bursts : (keys) => standstill.choose(keys),
    async before(party, step) {
      played.steps += 1;
      for (let next = meanwhile[0]; next !== undefined && next.step <= step; next = meanwhile[0]) {
        meanwhile.shift();
        await change(next.change);
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
    async after({ key, party }) {
      if (key.endsWith(' commit')) await watch.look(key);
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
  const processOf = (slot: string): SimulatedProcess => {
    const known = processes.get(slot);
    if (known !== undefined && !known.isDead() && !known.isGivenUp()) return known;
    const fresh = new SimulatedProcess(turns, stage.endSession);
    processes.set(slot, fresh);
    started.push(fresh);
    return fresh;
  };
  const pass = (milliseconds: number): Promise<void> =>
    turns.take({ key: 'time' }, () => stage.clock.pass(milliseconds));
  const play = (kind: RunKind): Promise<void> => playRun(company, kind, { pass, processOf });
  post.takeTurns(server.warehouse(stage.warehouse.pool, 'server'));
  source.reading = true;
  try {
    const overtaken = play(first);
    const overtaking = Promise.race([standstill?.begun, overtaken]).then(async () => {
      await post.emptied();
      await Promise.all(others.map(play));
    });
    await turns.during(Promise.all([overtaken, overtaking]).then(() => post.emptied()));
  } finally {
    // Who was given up may still run; and after a broken promise everybody does.
    for (const one of [...started, server]) await one.kill();
    post.takeTurns(undefined);
    source.reading = await company.isReading();
  }
  for (const one of meanwhile) await change(one.change);
}

function workflowOf(kind: RunKind): string {
  return kind.split(' ').at(-1) ?? kind;
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
