import { Command } from 'commander';
import type { SetExitCode } from '../exit-codes.ts';

/** The command behind `npm start`. */
export function tourCommand(setExitCode: SetExitCode): Command {
  return new Command('tour')
    .description('Show Daybook at work on the embedded sandbox.')
    .option('--once', 'end when the tour is over', false)
    .option('--sandbox', 'allow sandbox data in the database that DATABASE_URL names', false)
    .addHelpText('after', '\nExample:\n  $ npm start -- --once')
    .action(async (options: { once: boolean; sandbox: boolean }) => {
      const { tour } = await import('../tour/tour.ts');
      setExitCode(await tour(options));
    });
}
