import { Command } from 'commander';
import { withOwnServers } from '../support/own-servers.ts';
import { runDay, type Day, type DayOptions } from './run-day.ts';

const program = new Command('day')
  .description(
    'A day of three companies in minutes: changes, faults, kills; in the end everything must be right.',
  )
  .option('--ticks <n>', 'syncs of each connection, at least', Number, 300)
  .option('--tick-seconds <n>', 'from one sync to the next', Number, 2)
  .option('--records <n>', 'records of each connection at the beginning', Number, 600)
  .option('--seed <n>', 'repeats the decisions of another day', Number, Date.now() % 1_000_000)
  .addHelpText('after', '\nExample:\n  $ npm run day -- --ticks 50 --seed 4711')
  .action(async (options: DayOptions) => {
    report(`Seed ${options.seed}`);
    const day = await withOwnServers((servers) => runDay(servers, options, report), report);
    show(day, options);
    process.exitCode = day.complaints.length === 0 ? 0 : 1;
  });

await program.parseAsync();

function report(progress: string): void {
  process.stderr.write(`${progress}\n`);
}

function show({ summary, complaints }: Day, { seed }: DayOptions): void {
  const verdict =
    complaints.length === 0
      ? 'The warehouse matches the source.'
      : [`${complaints.length} complaints (seed ${seed}):`, ...complaints].join('\n  ');
  process.stdout.write(`${JSON.stringify(summary, null, 2)}\n${verdict}\n`);
}
