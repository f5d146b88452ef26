import { Command } from 'commander';
import { measureGrowth } from './growth.ts';
import { measureInitial } from './initial.ts';
import { tableOf } from '../cli/printer.ts';
import type { Measured } from './measured.ts';

const program = new Command('bench').description(
  'Measures Daybook on this machine. Ratios count; absolute figures are the machine.',
);

program
  .command('initial')
  .description('Loads bills end to end, without Temporal, and by bare COPY, side by side.')
  .option('--bills <n>', 'bills to load, a multiple of 500', Number, 100_000)
  .option('--repeat <n>', 'repetitions; medians are shown', Number, 3)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- initial --bills 20000 --repeat 1')
  .action(async (options: { bills: number; repeat: number; json?: true }) => {
    show(await measureInitial(options, progress), options.json);
  });

program
  .command('growth')
  .description(
    'Loads many bills in one go: is a page as fast, and the worker as small, at the end as at the beginning?',
  )
  .option('--bills <n>', 'bills to load, a multiple of 500', Number, 1_000_000)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- growth --bills 200000')
  .action(async (options: { bills: number; json?: true }) => {
    show(await measureGrowth(options, progress), options.json);
  });

await program.parseAsync();

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function show(measured: readonly Measured[], json: true | undefined): void {
  const text =
    json === true
      ? JSON.stringify(measured, null, 2)
      : tableOf(
          ['measured', 'seen', 'target'],
          measured.map(({ what, seen, target }) => [what, seen, target ?? '']),
        );
  process.stdout.write(`${text}\n`);
}
