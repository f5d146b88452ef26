import { Command } from 'commander';
import type { Lake } from '../../../lake/lake.ts';
import { readManifest, readPointer } from '../../../lake/pointer.ts';
import { print, printJson, printTable } from '../../printer.ts';
import { withLake } from './with-lake.ts';

export function listCommand(): Command {
  return new Command('list')
    .description('List the complete snapshots, the newest first.')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook snapshots list')
    .action(async ({ json }: { json?: true }) => {
      const { location, snapshots } = await withLake(async (lake) => ({
        location: lake.location,
        snapshots: await listSnapshots(lake),
      }));
      if (json === true) printJson(snapshots);
      else if (snapshots.length === 0)
        print(`There are no snapshots in ${location} yet: see "daybook export --help".`);
      else {
        printTable(
          ['snapshot', 'taken', 'rows', 'MB', 'unfit', ''],
          snapshots.map(({ id, taken_at: taken, rows, bytes, unfit, latest }) => [
            ...[id, taken.replace(/\.\d+Z$/, 'Z'), rows, Number((bytes / 1e6).toFixed(1)), unfit],
            latest ? 'latest' : '',
          ]),
        );
        print(`\n${location}`);
      }
    });
}

interface ListedSnapshot {
  id: string;
  taken_at: string;
  rows: number;
  bytes: number;
  unfit: number;
  latest: boolean;
}

async function listSnapshots(lake: Lake): Promise<ListedSnapshot[]> {
  const pointer = await readPointer(lake);
  const listed: ListedSnapshot[] = [];
  for (const id of (await lake.snapshotIds()).reverse()) {
    const manifest = await readManifest(lake, id);
    // Removed at this moment.
    if (manifest === undefined) continue;
    const { taken_at, rows, bytes, unfit } = manifest;
    listed.push({ id, taken_at, rows, bytes, unfit: unfit.length, latest: pointer?.snapshot_id === id });
  }
  return listed;
}
