import { Command } from 'commander';
import { readKeptData } from '../../../warehouse/connections/kept-data.ts';
import { listConnections, type ConnectionListed } from '../../../warehouse/connections/list-connections.ts';
import { listRemovals } from '../../../warehouse/connections/list-removals.ts';
import { print, printJson, printTable } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';
import { keptLines } from './kept-lines.ts';
import { removalLines } from './removal-lines.ts';
import { howOften } from './schedule-in-words.ts';

export function listCommand(): Command {
  return new Command('list')
    .description('List the connections.')
    .option('--json', 'print JSON: the connections only; status --json has removals and kept data')
    .addHelpText('after', '\nExample:\n  $ npx daybook connection list')
    .action(async ({ json }: { json?: true }) => {
      const { connections, kept, removals } = await withWarehouse(async (warehouse) => ({
        connections: await listConnections(warehouse),
        kept: await readKeptData(warehouse),
        removals: await listRemovals(warehouse),
      }));
      if (json === true) {
        printJson(connections);
        return;
      }
      if (connections.length > 0) show(connections);
      else print('There are no connections yet. Add one with: npx daybook connection add NAME --token-stdin');
      for (const line of [...removalLines(removals), ...keptLines(kept)]) print(line);
    });
}

function show(connections: readonly ConnectionListed[]): void {
  printTable(
    ['connection', 'platform', 'organization', 'API', 'synced', 'reconciled', 'paused', 'added'],
    connections.map((one) => [
      one.connection_id,
      one.platform,
      one.org_id,
      one.api_address,
      howOften(inMilliseconds(one.every_seconds)),
      howOften(inMilliseconds(one.reconcile_every_seconds)),
      one.paused?.why ?? '',
      one.created_at,
    ]),
  );
}

function inMilliseconds(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1_000;
}
