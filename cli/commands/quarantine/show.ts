import { Command } from 'commander';
import { readQuarantineEntry } from '../../../warehouse/quarantine/read-quarantine.ts';
import { UsageError } from '../../errors.ts';
import { countOption } from '../../options.ts';
import { print, printJson } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export function showCommand(): Command {
  return new Command('show')
    .description('Show one record in quarantine, as the API sent it.')
    .argument('<id>', 'ID of the entry', countOption)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook quarantine show 12')
    .action(async (id: number, { json }: { json?: true }) => {
      const entry = await withWarehouse((warehouse) => readQuarantineEntry(warehouse, id));
      if (entry === undefined)
        throw new UsageError(`There is no quarantine entry ${id}: see "daybook quarantine list".`);
      if (json === true) {
        printJson(entry);
        return;
      }
      print(`${entry.resource} ${entry.record_id ?? '(no id)'} of ${entry.connection_id}: ${entry.reason}`);
      print(entry.payload === '' ? '(pruned: its content is no longer kept)' : entry.payload);
    });
}
