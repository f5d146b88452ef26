import { Command } from 'commander';
import type { Lake } from '../../../lake/lake.ts';
import { sizesOf, countUnfit } from '../../../lake/manifest/manifest.ts';
import { lookAtManifest, lookAtPointer, type Pointer } from '../../../lake/manifest/pointer.ts';
import { print, printAside, printJson, printTable } from '../../printer.ts';
import { withLake } from './with-lake.ts';

export function listCommand(): Command {
  return new Command('list')
    .description('List the complete snapshots, newest first.')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook snapshots list')
    .action(async ({ json }: { json?: true }) => {
      const { location, snapshots, problems } = await withLake(async (lake) => ({
        location: lake.location,
        ...(await listSnapshots(lake)),
      }));
      for (const problem of problems) (json === true ? printAside : print)(problem);
      if (json === true) {
        printJson(snapshots);
        return;
      }
      if (snapshots.length === 0) {
        print(`There are no snapshots in ${location} yet: see "daybook export --help".`);
        return;
      }
      printTable(
        ['snapshot', 'taken', 'rows', 'MB', 'MB added', 'parts', 'added', 'unfit', ''],
        snapshots.map(({ id, taken_at: taken, rows, unfit, latest, problem, ...sizes }) => [
          id,
          taken?.replace(/\.\d+Z$/, 'Z'),
          rows,
          inMegabytes(sizes.bytes),
          inMegabytes(sizes.bytes_added),
          sizes.parts,
          sizes.parts_added,
          unfit,
          problem !== null ? 'cannot be read' : latest ? 'latest' : '',
        ]),
      );
      print(`\n${location}`);
    });
}

/** Fields that come from the manifest are null if it cannot be read. */
interface ListedSnapshot {
  id: string;
  taken_at: string | null;
  rows: number | null;
  bytes: number | null;
  /** The bytes of files written for this snapshot; its other files are shared with earlier snapshots. */
  bytes_added: number | null;
  /** The number of files. */
  parts: number | null;
  parts_added: number | null;
  /** The number of values that its files cannot hold exactly. */
  unfit: number | null;
  latest: boolean;
  problem: string | null;
}

async function listSnapshots(lake: Lake): Promise<{ snapshots: ListedSnapshot[]; problems: string[] }> {
  const pointer = await lookAtPointer(lake);
  const snapshots: ListedSnapshot[] = [];
  for (const id of (await lake.snapshotIds()).reverse()) {
    const seen = await lookAtManifest(lake, id);
    // The snapshot was removed just now.
    if (seen === undefined) continue;
    const { taken_at = null, rows = null, bytes = null } = seen.value ?? {};
    const sizes = seen.value && sizesOf(seen.value);
    snapshots.push({
      id,
      taken_at,
      rows,
      bytes,
      bytes_added: sizes?.bytesAdded ?? null,
      parts: sizes?.parts ?? null,
      parts_added: sizes?.partsAdded ?? null,
      unfit: seen.value === undefined ? null : countUnfit(seen.value),
      latest: pointer?.value?.snapshot_id === id,
      problem: seen.altered?.message ?? null,
    });
  }
  const found = [
    pointer?.altered?.message ?? danglingPointer(pointer?.value, snapshots),
    ...snapshots.map(({ problem }) => problem),
  ];
  return { snapshots, problems: found.filter((problem) => typeof problem === 'string') };
}

/** Describes a readable pointer that names no existing snapshot. Undefined if it names one, or if there are no snapshots yet. */
function danglingPointer(
  pointer: Pointer | undefined,
  snapshots: readonly ListedSnapshot[],
): string | undefined {
  if (snapshots.length === 0 || snapshots.some(({ latest }) => latest)) return undefined;
  const what =
    pointer === undefined
      ? 'There is no latest.json'
      : `latest.json names ${pointer.snapshot_id}, which is not there`;
  return `${what}: readers that follow it find nothing. "daybook export" fixes that.`;
}

function inMegabytes(bytes: number | null): number | null {
  return bytes === null ? null : Number((bytes / 1e6).toFixed(1));
}
