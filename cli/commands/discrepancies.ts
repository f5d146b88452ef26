import { Command } from 'commander';
import type { Selectable } from 'kysely';
import { requireKnown } from '../../warehouse/connections/require-known.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { readDiscrepancies } from '../../warehouse/reconcile/read-discrepancies.ts';
import type { DiscrepanciesTable } from '../../warehouse/tables/discrepancies.ts';
import { limitOption } from '../options.ts';
import { print, printAside, printJson, printTable } from '../printer.ts';
import { withWarehouse } from '../with-warehouse.ts';

export function discrepanciesCommand(): Command {
  return new Command('discrepancies')
    .description(
      'List the differences between source and warehouse that reconciles found: those that wait for approval, then the newest.',
    )
    .argument('[name]', 'only this connection')
    .option('--limit <n>', 'show at most this many', limitOption, 100)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook discrepancies acme-us')
    .action(async (name: string | undefined, { limit, json }: { limit: number; json?: true }) => {
      const found = await withWarehouse(async (warehouse) => {
        if (name !== undefined) await requireKnown(warehouse, name);
        return read(warehouse, { connectionId: name, limit });
      });
      const shown = found.slice(0, limit);
      if (json === true)
        printJson(shown.map((one) => ({ ...one, shown_hash: one.shown_hash?.toString('hex') ?? null })));
      else if (found.length === 0) print('No reconcile has found a difference.');
      else
        printTable(
          ['found', 'connection', 'resource', 'record', 'kind', 'status', 'how it was closed'],
          shown.map((one) => [
            one.found_at,
            one.connection_id,
            one.resource,
            one.record_id,
            one.kind,
            one.status === 'confirmed' ? 'waits for approval' : one.status,
            one.closed_why,
          ]),
        );
      if (found.length > limit)
        printAside(
          `Showing ${limit.toLocaleString('en-US')} differences, those that wait for approval first; "--limit N" shows more.`,
        );
    });
}

/** Reads more than `limit` entries if there are more. */
async function read(
  warehouse: Warehouse,
  { connectionId, limit }: { connectionId: string | undefined; limit: number },
): Promise<Selectable<DiscrepanciesTable>[]> {
  const most = { connectionId, limit: limit + 1 };
  const waiting = await readDiscrepancies(warehouse, { ...most, waiting: true });
  const newest = await readDiscrepancies(warehouse, most);
  const ids = new Set(waiting.map(({ id }) => id));
  return [...waiting, ...newest.filter(({ id }) => !ids.has(id))];
}
