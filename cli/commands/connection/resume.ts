import { Command } from 'commander';
import { resumeConnection } from '../../../warehouse/connections/resume-connection.ts';
import { followSchedules } from '../../follow-schedules.ts';
import { print } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export function resumeCommand(): Command {
  return new Command('resume')
    .description('Resume the schedules of a connection, whoever paused them.')
    .argument('<name>')
    .addHelpText('after', '\nExample:\n  $ npx daybook connection resume acme-us')
    .action(async (connectionId: string) => {
      await withWarehouse(async (warehouse, settings) => {
        await resumeConnection(warehouse, { connectionId });
        await followSchedules({ warehouse, settings }, { connectionId, resume: true });
      });
      print(`${connectionId} is resumed.`);
    });
}
