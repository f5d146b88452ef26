import { join } from 'node:path';
import { todayIn } from '../../marts/today-in.ts';
import { compareMart, type Compared } from './compare-marts.ts';
import { modelMutants, type ModelMutant } from './model-mutants.ts';
import { drawMoment } from './random-books.ts';
import { editFile, runModels } from './run-models.ts';
import { withRandomBooks, type BooksFixture, type RandomBooksInput } from './books-fixture.ts';

export interface ModelMutantOutcome {
  readonly name: string;
  readonly file: string;
  /** The first wrong figure, or the error of a model that did not run. Null: not detected. */
  readonly caughtBy: string | null;
  readonly seconds: number;
}

/**
 * Loads random books once, and runs the models on them with one mutant after another, without the project's tests. The unchanged models
 * must be right. Throws if a mutant no longer fits its file: the list is stale.
 */
export async function runModelMutants(
  input: RandomBooksInput & { only?: string; onOutcome?: (outcome: ModelMutantOutcome) => void },
): Promise<ModelMutantOutcome[]> {
  const { only = '', onOutcome } = input;
  return withRandomBooks({ ...input, seed: findSeedBehindUtc(input.seed) }, async (fixture) => {
    const untouched = await findDifference(fixture, { asOfDate: fixture.today });
    if (untouched !== null) throw new Error(`The models are wrong without a mutant: ${untouched}`);
    const outcomes: ModelMutantOutcome[] = [];
    for (const [mutant, run] of listRuns(fixture).filter(([{ name }]) => name.includes(only))) {
      const started = performance.now();
      const caughtBy = await findDifference(fixture, run);
      const outcome = { ...mutant, caughtBy, seconds: Math.round((performance.now() - started) / 1000) };
      onOutcome?.(outcome);
      outcomes.push(outcome);
    }
    return outcomes;
  });
}

/** The first seed, from `seed` on, with a company whose date is still the day before that of UTC. */
function findSeedBehindUtc(seed: number): number {
  const { now, timeZone } = drawMoment(seed);
  const [today, todayInUtc] = [timeZone, 'UTC'].map((zone) => todayIn(zone, new Date(now)));
  return String(today) < String(todayInUtc) ? seed : findSeedBehindUtc(seed + 1);
}

interface Run {
  readonly asOfDate: string;
  readonly mutant?: ModelMutant;
}

/** Adds a mutant outside the models: the build is given the wrong day. */
function listRuns(fixture: BooksFixture): (readonly [{ name: string; file: string }, Run])[] {
  const { today, todayInUtc } = fixture;
  return [
    [{ name: "today is UTC's", file: 'marts/today-in.ts' }, { asOfDate: todayInUtc }],
    ...modelMutants.map((mistake) => [nameOf(mistake), { asOfDate: today, mistake }] as const),
  ];
}

function nameOf({ name, file }: ModelMutant): { name: string; file: string } {
  return { name, file: join('dbt', file) };
}

async function findDifference(fixture: BooksFixture, { asOfDate, mutant }: Run): Promise<string | null> {
  const run = await runModels(fixture, {
    asOfDate,
    async edit(project) {
      if (mutant !== undefined) await editFile(join(project, mutant.file), mutant.find, mutant.replace);
    },
  });
  if ('failure' in run) return `a model did not run: ${run.failure}`;
  const compared: Compared = { rows: 0, figures: 0, differences: [] };
  for (const [name, read] of run.marts)
    compareMart(compared, { name, where: 'lake', ...read }, fixture.calculated);
  return compared.differences[0] ?? null;
}
