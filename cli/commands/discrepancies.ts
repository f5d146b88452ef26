import { Command } from 'commander';
import { requireKnown } from '../../warehouse/connections/require-known.ts';
import { readDiscrepancies } from '../../warehouse/reconcile/read-discrepancies.ts';
import { limitOption } from '../options.ts';
import { print, printJson, printTable } from '../printer.ts';
import { withWarehouse } from '../with-warehouse.ts';

export function discrepanciesCommand(): Command {
  return new Command('discrepancies')
    .description('List the differences between source and warehouse that reconciles found, newest first.')
    .argument('[name]', 'only this connection')
    .option('--limit <n>', 'how many', limitOption, 100)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook discrepancies acme-us')
    .action(async (name: string | undefined, { limit, json }: { limit: number; json?: true }) => {
      const found = await withWarehouse(async (warehouse) => {
        if (name !== undefined) await requireKnown(warehouse, name);
        return readDiscrepancies(warehouse, { connectionId: name, limit });
      });
      if (json === true) printJson(found);
      else if (found.length === 0) print('No reconcile has found a difference.');
      else
        printTable(
          ['found', 'connection', 'resource', 'record', 'kind', 'status', 'how it was closed'],
          found.map((one) => [
            one.found_at,
            one.connection_id,
            one.resource,
            one.record_id,
            one.kind,
            one.status === 'confirmed' ? 'waits for approval' : one.status,
            one.closed_why,
          ]),
        );
    });
}
