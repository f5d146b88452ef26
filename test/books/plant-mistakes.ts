import { join } from 'node:path';
import { todayIn } from '../../marts/today-in.ts';
import { compareMart, type Compared } from './compare-marts.ts';
import { mistakes, type Mistake } from './mistakes.ts';
import { momentOf } from './random-books.ts';
import { editFile, runModels } from './run-models.ts';
import { withShelf, type Shelf, type ShelfInput } from './shelf.ts';

export interface MistakeOutcome {
  readonly name: string;
  readonly file: string;
  /** The first wrong figure, or the error of a model that did not run. Null: nobody noticed. */
  readonly caughtBy: string | null;
  readonly seconds: number;
}

/**
 * Keeps random books once, and runs the models on them with one mistake after the other, without the project's tests. The unchanged models
 * must be right. Throws if a mistake no longer fits its file: the list is stale.
 */
export async function plantMistakes(
  input: ShelfInput & { only?: string; onOutcome?: (outcome: MistakeOutcome) => void },
): Promise<MistakeOutcome[]> {
  const { only = '', onOutcome } = input;
  return withShelf({ ...input, seed: seedOfAnotherDay(input.seed) }, async (shelf) => {
    const untouched = await caughtIn(shelf, { asOfDate: shelf.today });
    if (untouched !== null) throw new Error(`The models are wrong without a mistake: ${untouched}`);
    const outcomes: MistakeOutcome[] = [];
    for (const [mistake, run] of runsOf(shelf).filter(([{ name }]) => name.includes(only))) {
      const started = performance.now();
      const caughtBy = await caughtIn(shelf, run);
      const outcome = { ...mistake, caughtBy, seconds: Math.round((performance.now() - started) / 1000) };
      onOutcome?.(outcome);
      outcomes.push(outcome);
    }
    return outcomes;
  });
}

/** The first seed, from `seed` on, with a company whose date is still the day before that of UTC. */
function seedOfAnotherDay(seed: number): number {
  const { now, timeZone } = momentOf(seed);
  const [today, todayInUtc] = [timeZone, 'UTC'].map((zone) => todayIn(zone, new Date(now)));
  return String(today) < String(todayInUtc) ? seed : seedOfAnotherDay(seed + 1);
}

interface Run {
  readonly asOfDate: string;
  readonly mistake?: Mistake;
}

/** Adds a mistake outside the models: the build is given the wrong day. */
function runsOf(shelf: Shelf): (readonly [{ name: string; file: string }, Run])[] {
  const { today, todayInUtc } = shelf;
  return [
    [{ name: "today is UTC's", file: 'marts/today-in.ts' }, { asOfDate: todayInUtc }],
    ...mistakes.map((mistake) => [nameOf(mistake), { asOfDate: today, mistake }] as const),
  ];
}

function nameOf({ name, file }: Mistake): { name: string; file: string } {
  return { name, file: join('dbt', file) };
}

async function caughtIn(shelf: Shelf, { asOfDate, mistake }: Run): Promise<string | null> {
  const run = await runModels(shelf, {
    asOfDate,
    async edit(project) {
      if (mistake !== undefined) await editFile(join(project, mistake.file), mistake.find, mistake.replace);
    },
  });
  if ('failure' in run) return `a model did not run: ${run.failure}`;
  const compared: Compared = { rows: 0, figures: 0, differences: [] };
  for (const [name, read] of run.marts)
    compareMart(compared, { name, where: 'lake', ...read }, shelf.calculated);
  return compared.differences[0] ?? null;
}
