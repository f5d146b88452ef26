import { Command } from 'commander';
import { withOwnServers } from '../../support/own-servers.ts';
import { runHour, type HourOptions } from './run-hour.ts';

const program = new Command('fleet-hour')
  .description('An hour of many small companies: schedules, webhooks, kills; in the end all must be right.')
  .option('--connections <n>', 'companies', Number, 10_000)
  .option('--records <n>', 'records of each at the beginning', Number, 20)
  .option('--minutes <n>', 'after all are loaded', Number, 60)
  .option('--every-minutes <n>', 'from one sync of a company to the next', Number, 30)
  .option('--requests-per-10s <n>', 'the API budget', Number, 1_200)
  .option('--temporal-away-minutes <n>', 'how long Temporal is away in the middle', Number, 10)
  .option('--misfortunes', 'a large company, refused tokens, a slow API and a killed Postgres too', false)
  .option('--seed <n>', 'repeats the decisions of another hour', Number, Date.now() % 1_000_000)
  .addHelpText('after', '\nExample:\n  $ npx tsx test/fleet/hour/main.ts --connections 500 --minutes 10')
  .action(async (options: HourOptions) => {
    const report = (progress: string): void => {
      process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${progress}\n`);
    };
    report(`Seed ${options.seed}`);
    const hour = await withOwnServers((servers) => runHour(servers, options, report), report);
    process.stdout.write(`${JSON.stringify(hour)}\n`);
    process.exitCode = hour.complaints.length === 0 ? 0 : 1;
  });

await program.parseAsync();
