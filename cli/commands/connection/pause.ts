import { Command } from 'commander';
import { pauseConnection } from '../../../warehouse/connections/pause-connection.ts';
import { changeConnection } from '../../change-connection.ts';
import { print } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export function pauseCommand(): Command {
  return new Command('pause')
    .description(
      "Pause a connection's schedules. Running work continues, you can still start runs by hand, and webhooks wait until it is resumed.",
    )
    .argument('<name>', 'the connection')
    .option('--why <text>', 'reason, shown wherever the pause is shown', 'No reason was given.')
    .addHelpText('after', '\nExample:\n  $ npx daybook connection pause acme-us --why "month end"')
    .action(async (connectionId: string, { why }: { why: string }) => {
      await withWarehouse((warehouse, settings) =>
        changeConnection({ warehouse, settings }, { connectionId }, () =>
          pauseConnection(warehouse, { connectionId, why }),
        ),
      );
      print(`${connectionId} is paused. Resume it with: npx daybook connection resume ${connectionId}`);
    });
}
