import { Command } from 'commander';
import {
  listQuarantine,
  readQuarantineEntry,
  type QuarantineEntry,
} from '../../warehouse/quarantine/read-quarantine.ts';
import { UsageError } from '../errors.ts';
import { countOption } from '../options.ts';
import { print, printJson, printTable } from '../printer.ts';
import { withWarehouse } from '../with-warehouse.ts';

export function quarantineCommand(): Command {
  return new Command('quarantine')
    .description('Records that could not be landed.')
    .addCommand(listCommand())
    .addCommand(showCommand());
}

function listCommand(): Command {
  return new Command('list')
    .description('List the records in quarantine.')
    .option('--all', 'closed entries too', false)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook quarantine list')
    .action(async ({ all, json }: { all: boolean; json?: true }) => {
      const entries = await withWarehouse((warehouse) => listQuarantine(warehouse, { all }));
      if (json === true) printJson(entries);
      else if (entries.length === 0) print('Nothing is in quarantine.');
      else showAll(entries);
    });
}

function showAll(entries: readonly QuarantineEntry[]): void {
  printTable(
    ['id', 'connection', 'resource', 'record', 'status', 'since', 'reason'],
    entries.map((entry) => [
      String(entry.id),
      entry.connection_id,
      entry.resource,
      entry.record_id ?? '(no id)',
      entry.status,
      entry.first_seen_at,
      entry.reason,
    ]),
  );
}

function showCommand(): Command {
  return new Command('show')
    .description('Show one record in quarantine, as the API sent it.')
    .argument('<id>', 'number of the entry', countOption)
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
      print(entry.payload);
    });
}
