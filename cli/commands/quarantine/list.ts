import { Command } from 'commander';
import { requireKnown } from '../../../warehouse/connections/require-known.ts';
import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import { countEntries } from '../../../warehouse/quarantine/count-entries.ts';
import {
  listQuarantine,
  newestOpenEntries,
  type QuarantineEntry,
} from '../../../warehouse/quarantine/read-quarantine.ts';
import { limitOption } from '../../options.ts';
import { print, printAside, printJson, printTable } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

interface Options {
  all: boolean;
  connection?: string;
  limit: number;
  json?: true;
}

export function listCommand(): Command {
  return new Command('list')
    .description('List the records in quarantine, newest first.')
    .option('--all', 'closed entries too', false)
    .option('--connection <name>', 'only this connection')
    .option('--limit <n>', 'show at most this many', limitOption, 1_000)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook quarantine list')
    .action(async (options: Options) => {
      const { entries, more } = await withWarehouse((warehouse) => read(warehouse, options));
      if (options.json === true) printJson(entries);
      else if (entries.length === 0) print('Nothing is in quarantine.');
      else show(entries);
      if (more !== undefined) printAside(more);
    });
}

/** Reads the entries. `more` is a sentence, present if there are more entries than requested. */
async function read(
  warehouse: Warehouse,
  { all, connection: connectionId, limit }: Options,
): Promise<{ entries: QuarantineEntry[]; more: string | undefined }> {
  if (connectionId !== undefined) await requireKnown(warehouse, connectionId);
  const entries = all
    ? await listQuarantine(warehouse, { all, connectionId, limit })
    : await newestOpenEntries(warehouse, { connectionId, limit });
  const there = entries.length < limit ? limit : await countEntries(warehouse, { all, connectionId });
  if (there <= limit) return { entries, more: undefined };
  const [shown, of] = [limit, there].map((count) => count.toLocaleString('en-US'));
  return { entries, more: `Showing the newest ${shown} of ${of} entries; "--limit ${there}" shows all.` };
}

function show(entries: readonly QuarantineEntry[]): void {
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
