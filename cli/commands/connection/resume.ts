import { Command } from 'commander';
import { resumeConnection } from '../../../warehouse/connections/resume-connection.ts';
import { changeConnection } from '../../change-connection.ts';
import { print } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export function resumeCommand(): Command {
  return new Command('resume')
    .description('Resume the schedules of a connection, whoever paused them.')
    .argument('<name>', 'the connection')
    .addHelpText('after', '\nExample:\n  $ npx daybook connection resume acme-us')
    .action(async (connectionId: string) => {
      await withWarehouse((warehouse, settings) =>
        changeConnection({ warehouse, settings }, { connectionId, resume: true }, () =>
          resumeConnection(warehouse, { connectionId }),
        ),
      );
      print(`${connectionId} is resumed.`);
    });
}
