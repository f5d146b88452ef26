import { Command } from 'commander';
import { listQuarantine, type QuarantineEntry } from '../../../warehouse/quarantine/read-quarantine.ts';
import { print, printJson, printTable } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export function listCommand(): Command {
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
