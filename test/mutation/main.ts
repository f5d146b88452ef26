import { Command } from 'commander';
import { mutantsIn, locateMutant, type MutantLocation } from './mutant.ts';
import { addResult, readResults, type Result } from './results.ts';
import { tryMutants } from './try-mutants.ts';

interface Options {
  only: string;
  folder: string[];
  results: string;
  histories: number;
  every: number;
  survivors?: boolean;
  list?: boolean;
  json?: boolean;
}

const folders = ['landing', 'passes', 'tombstones', 'reconcile', 'quarantine'].map(
  (name) => `warehouse/${name}`,
);

const program = new Command('mutate')
  .description(
    'Plants one small mistake after another in the sources, and lists those that no check notices.',
  )
  .option(
    '--only <text>',
    'mistakes with the text in their place or rule, as in "classify-records.ts:59 operator"',
    '',
  )
  .option('--folder <folder...>', 'where to make them', folders)
  .option('--every <n>', 'only every nth of them, for an estimate of the total in less time', Number, 1)
  .option('--histories <seconds>', 'how long random histories are played against each', Number, 25)
  .option(
    '--results <file>',
    'where results are kept: a mistake in it is not made again, until its file changes',
    'mutants.log',
  )
  .option('--survivors', 'tries those again that no check noticed before')
  .option('--list', 'shows the mistakes, and makes none')
  .option('--json', 'prints the result as one line of JSON')
  .addHelpText('after', '\nExample:\n  $ npm run mutate -- --folder warehouse/landing');

const options = program.parse().opts<Options>();
const stopped = { now: false };
process.on('SIGINT', () => {
  // npm repeats the signal that the terminal has sent already, so only a later one counts as the second.
  if (stopped.now) return;
  stopped.now = true;
  process.stderr.write(
    'Ending after the two in progress. Ctrl-C again ends it at once, and leaves its servers running …\n',
  );
  setTimeout(() => process.removeAllListeners('SIGINT'), 1_000).unref();
});
await main();

async function main(): Promise<void> {
  const mutants = (await Promise.all(options.folder.map(mutantsIn)))
    .flat()
    .map((mutant) => ({ mutant, place: locateMutant(mutant) }))
    .filter(({ place: { file, line, rule } }) => `${file}:${line} ${rule}`.includes(options.only))
    .filter((_, index) => index % options.every === 0);
  if (options.list === true) {
    for (const { place } of mutants) process.stdout.write(`${formatRow(place)}\n`);
    process.stdout.write(`${mutants.length} mistakes.\n`);
    return;
  }
  const results = new Map((await readResults(options.results)).map((result) => [result.key, result]));
  const due = mutants.filter(({ place: { key } }) => {
    const known = results.get(key);
    return known === undefined || (options.survivors === true && known.caught === null);
  });
  process.stderr.write(`${due.length} of ${mutants.length} mistakes are to be made.\n`);
  let done = 0;
  await tryMutants(
    due.map(({ mutant }) => mutant),
    {
      earlier: [...results.values()],
      historiesSeconds: options.histories,
      goesOn: () => !stopped.now,
      async onResult(result) {
        results.set(result.key, result);
        await addResult(options.results, result);
        done += 1;
        process.stderr.write(
          `${done}/${due.length} ${result.seconds} s ${formatRow(result, result.caught)}\n`,
        );
      },
    },
  );
  report(mutants.flatMap(({ place: { key } }) => results.get(key) ?? []));
}

function report(results: readonly Result[]): void {
  const survivors = results.filter(({ caught }) => caught === null);
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ made: results.length, survivors })}\n`);
    return;
  }
  process.stdout.write('| at | mistake | instead of | there is |\n|---|---|---|---|\n');
  for (const survivor of survivors) process.stdout.write(`${formatRow(survivor)}\n`);
  process.stdout.write(`${results.length - survivors.length} of ${results.length} mistakes were noticed.\n`);
}

function formatRow({ file, line, rule, from, to }: MutantLocation, caught: Result['caught'] = null): string {
  const by = caught === null ? '' : ` noticed by ${caught.check}: ${inLine(caught.test)} |`;
  return `| ${file}:${line} | ${rule} | \`${inLine(from)}\` | \`${inLine(to)}\` |${by}`;
}

function inLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|');
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
