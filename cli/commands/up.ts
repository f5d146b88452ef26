import { Command } from 'commander';
import { print, printAside } from '../printer.ts';
import { readConfig } from '../settings.ts';
import { recordsBounds } from '../../sandbox/records-bounds.ts';
import { countBetween, countOption, takeOverOption } from '../options.ts';
import { withoutPassword } from '../without-password.ts';

interface Options {
  sandbox: boolean;
  takeOver: boolean;
  seed?: number;
  records?: number;
}

export function upCommand(): Command {
  return new Command('up')
    .description(
      'Start whatever is not configured, migrate, and run a worker and the HTTP server until stopped.',
    )
    .option('--sandbox', 'allow sandbox data in the database that DATABASE_URL names', false)
    .addOption(takeOverOption())
    .option('--seed <n>', 'seed of the embedded sandbox', countOption)
    .option(
      '--records <n>',
      'records per connection of the embedded sandbox, 100 to 1,000,000',
      countBetween(...recordsBounds),
    )
    .addHelpText('after', '\nExample:\n  $ npx daybook up\n  $ TEMPORAL_ADDRESS=… npx daybook up --take-over')
    .action(async (options: Options) => {
      const { startUp } = await import('../start-up.ts');
      const { untilStopped } = await import('../until-stopped.ts');
      const stopped = untilStopped();
      const { sandbox, takeOver, ...sandboxOptions } = options;
      const up = await startUp(readConfig(), { sandbox, takeOver, sandboxOptions, onStep: printAside });
      print(`Temporal Web UI  ${up.settings.temporal.ui ?? up.settings.temporal.connection.address ?? ''}`);
      print(`Daybook          ${up.httpUrl}`);
      print(`Postgres         ${withoutPassword(up.settings.database.url)}`);
      print('Running. Stop with Ctrl-C.');
      try {
        await Promise.race([stopped, up.failed]);
      } finally {
        printAside('Stopping …');
        await up.stop();
      }
    });
}
