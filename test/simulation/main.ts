import { Command } from 'commander';
import { runModelMutants } from '../books/run-model-mutants.ts';
import { billsPerBook, runBooks, type BooksResult } from '../books/run-books.ts';
import { parseDuration } from '../../config/duration.ts';
import { counted } from '../../server/frame/counted.ts';
import { describeHistory } from './describe-history.ts';
import { withPostgres } from './with-postgres.ts';
import { runJobs } from './run-jobs.ts';
import { runMutants, type MutantOutcome } from './run-mutants.ts';
import { runSimulation, type Simulation } from './run-simulation.ts';
import { simulate } from './simulate.ts';
import { openHarness, type Harness } from './harness.ts';

interface Options {
  for: string;
  seed: number;
  path?: string;
  mutants?: boolean;
  books?: boolean;
  only?: string;
  json?: boolean;
  histories: number;
  jobs: number;
  about?: string;
  shrink?: string;
}

const program = new Command('simulate')
  .description(
    'Plays random histories of companies, with faults and kills, and checks the promises of Daybook.',
  )
  .option('--for <duration>', 'how long', '2m')
  .option(
    '--seed <n>',
    'the first history; each one after it has the next number',
    Number,
    Date.now() % 1_000_000_000,
  )
  .option('--path <path>', 'with --seed: replays the one history that a failure was shrunk to')
  .option('--histories <n>', 'ends after so many, if they come first', Number, Infinity)
  .option('--jobs <n>', 'processes side by side, each with seeds of its own', Number, 1)
  .option('--about <name>', 'only histories of one scenario: see test/simulation/scenarios')
  .option('--mutants', 'plants one mistake after the other, each of which must be caught')
  .option(
    '--books',
    'random books instead: every figure of the marts is compared; --mutants are mistakes in the models then',
  )
  .option('--only <text>', 'with --mutants: those with the text in their name')
  .option(
    '--json',
    'prints the result as one line of JSON, and does not look for a smaller history unless --shrink says how long',
  )
  .option(
    '--shrink <duration>',
    'how long to look for a smaller history that fails too; 2m, unless with --json',
  )
  .addHelpText('after', '\nExample:\n  $ npm run simulate -- --for 2h --seed 4711');

const options = program.parse().opts<Options>();
const milliseconds = requireDuration(options.for);
const stopped = { now: false };
process.once('SIGINT', () => {
  // A second SIGINT ends the process at once.
  stopped.now = true;
  report('Ending with this history …');
});
const code = await (options.books === true
  ? options.mutants === true
    ? plantInModels()
    : playBooks()
  : options.mutants === true
    ? plantMutants()
    : options.path === undefined
      ? options.jobs > 1
        ? playInJobs()
        : play()
      : replay(options.path));
// Pending work of a history that never ended would keep the process alive.
process.exit(code);

function requireDuration(text: string): number {
  return parseDuration(text) ?? program.error(`${text} is no duration: write 90s, 10m, 2h.`);
}

async function play(): Promise<number> {
  const deadline = performance.now() + milliseconds;
  report(`Seed ${options.seed}`);
  let lastReportAt = performance.now();
  const simulation = await withHarness((harness, renew) =>
    runSimulation(harness, {
      seed: options.seed,
      renew,
      goesOn: (histories) => !stopped.now && performance.now() < deadline && histories < options.histories,
      shrinkMilliseconds: shrinkMilliseconds(),
      about: options.about,
      onHistory(sofar) {
        if (performance.now() - lastReportAt < 10_000) return;
        lastReportAt = performance.now();
        report(formatSummary(sofar));
      },
    }),
  );
  return printResult(simulation);
}

/** The seeds of the processes are far apart, so that no two processes play the same history. */
async function playInJobs(): Promise<number> {
  const { jobs, seed, histories, about } = options;
  const seeds = Array.from({ length: jobs }, (_, place) => seed + place * 1_000_000);
  report(`Seeds ${seeds.join(', ')}`);
  const simulation = await runJobs({
    seeds,
    args: [
      ...['--for', options.for, '--shrink', `${shrinkMilliseconds() / 1000}s`],
      ...(Number.isFinite(histories) ? ['--histories', String(Math.ceil(histories / jobs))] : []),
      ...(about === undefined ? [] : ['--about', about]),
    ],
    onProgress: report,
  });
  return printResult(simulation);
}

function shrinkMilliseconds(): number {
  return requireDuration(options.shrink ?? (options.json === true ? '0s' : '2m'));
}

function printResult(simulation: Simulation): number {
  process.stdout.write(
    options.json === true ? `${JSON.stringify(simulation)}\n` : `${formatResult(simulation)}\n`,
  );
  return simulation.failure === null ? 0 : 1;
}

async function replay(path: string): Promise<number> {
  const { seed, about } = options;
  const failure = await withHarness((harness) =>
    simulate(harness, { seed, about, path, shrinkMilliseconds: 0 }),
  );
  process.stdout.write(
    failure === undefined
      ? 'No promise was broken.\n'
      : `${failure.stack}\n${describeHistory(failure.history)}\n`,
  );
  return failure === undefined ? 0 : 1;
}

async function plantMutants(): Promise<number> {
  const json = options.json === true;
  if (!json) process.stdout.write('| mistake | in | caught by | after |\n|---|---|---|---|\n');
  const outcomes = await runMutants({
    ...options,
    milliseconds,
    goesOn: () => !stopped.now,
    onOutcome(outcome) {
      // With --json only the result goes to standard output.
      (json ? process.stderr : process.stdout).write(`${formatRow(outcome)}\n`);
    },
  });
  const survivors = outcomes.filter(({ caughtBy }) => caughtBy === null).length;
  process.stdout.write(
    json
      ? `${JSON.stringify({ ...options, caught: outcomes.length - survivors, survivors, outcomes })}\n`
      : `${outcomes.length - survivors} of ${outcomes.length} mistakes were caught (seed ${options.seed}).\n`,
  );
  return survivors === 0 ? 0 : 1;
}

async function playBooks(): Promise<number> {
  const deadline = performance.now() + milliseconds;
  const { seed, histories } = options;
  report(`Seed ${seed}`);
  const played = await withPostgres((postgres) =>
    runBooks(() => postgres.createDatabase(), {
      seed,
      documents: billsPerBook,
      goesOn: (batches) =>
        !stopped.now && batches < histories && (batches === 0 || performance.now() < deadline),
      onBatch(sofar) {
        report(formatBooksSummary(sofar));
      },
    }),
  );
  process.stdout.write(
    options.json === true ? `${JSON.stringify(played)}\n` : `${formatBooksResult(played)}\n`,
  );
  return played.failure === null ? 0 : 1;
}

function formatBooksSummary({ books, documents, figures, rows, seconds }: BooksResult): string {
  return `${books} books in ${seconds} s: ${documents} records, ${figures} figures in ${rows} rows of marts compared`;
}

function formatBooksResult(played: BooksResult): string {
  const { failure } = played;
  if (failure === null) return `${formatBooksSummary(played)}. No figure was wrong.`;
  const { seed, today, differences } = failure;
  return [
    formatBooksSummary(played),
    `Figures that are wrong on ${today}:`,
    ...differences,
    `Again: npm run simulate -- --books --histories 1 --seed ${seed}`,
  ].join('\n');
}

async function plantInModels(): Promise<number> {
  const { seed, only } = options;
  const json = options.json === true;
  // With --json only the result goes to standard output.
  const shown = json ? process.stderr : process.stdout;
  shown.write('| mistake | in | caught by | after |\n|---|---|---|---|\n');
  const outcomes = await withPostgres(async (postgres) =>
    runModelMutants({
      databaseUrl: await postgres.createDatabase(),
      seed,
      books: 12,
      documents: billsPerBook,
      ...(only !== undefined && { only }),
      onOutcome({ name, file, caughtBy, seconds }) {
        shown.write(`| ${name} | ${file} | ${caughtBy ?? 'NOT CAUGHT'} | ${seconds} s |\n`);
      },
    }),
  );
  const survivors = outcomes.filter(({ caughtBy }) => caughtBy === null).length;
  process.stdout.write(
    json
      ? `${JSON.stringify({ ...options, caught: outcomes.length - survivors, survivors, outcomes })}\n`
      : `${outcomes.length - survivors} of ${outcomes.length} mistakes were caught (seed ${seed}).\n`,
  );
  return survivors === 0 ? 0 : 1;
}

function formatRow({ name, file, caughtBy, histories, seconds }: MutantOutcome): string {
  return `| ${name} | ${file} | ${caughtBy ?? 'NOT CAUGHT'} | ${seconds} s, ${counted(histories, 'history', 'histories')} |`;
}

/** `renew` replaces the harness by one with an empty database. */
async function withHarness<Result>(
  use: (harness: Harness, renew: () => Promise<Harness>) => Promise<Result>,
): Promise<Result> {
  return withPostgres(async (postgres) => {
    let harness = await openHarness(await postgres.createDatabase());
    const renew = async (): Promise<Harness> => {
      await harness.close();
      harness = await openHarness(await postgres.createDatabase());
      return harness;
    };
    try {
      return await use(harness, renew);
    } finally {
      await harness.close();
    }
  });
}

function formatSummary({ histories, seconds, played }: Simulation): string {
  const counts = Object.entries(played).map(([name, count]) => `${String(count)} ${name}`);
  return `${histories} histories in ${seconds} s: ${counts.join(', ')}`;
}

function formatResult(simulation: Simulation): string {
  const { failure } = simulation;
  if (failure === null) return `${formatSummary(simulation)}. No promise was broken.`;
  const { seed, path, history, message } = failure;
  return [
    formatSummary(simulation),
    message,
    describeHistory(history),
    `Again: npm run simulate -- --seed ${seed} --path ${path}${options.about === undefined ? '' : ` --about ${options.about}`}`,
    `For test/simulation/seeds.json: ${JSON.stringify({ seed, path, history })}`,
  ].join('\n');
}

function report(progress: string): void {
  process.stderr.write(`${progress}\n`);
}
