import { Command } from 'commander';
import type { SnapshotsDiffer } from '../../../lake/snapshots/diff-snapshots.ts';
import type { Lake } from '../../../lake/lake.ts';
import type { Manifest } from '../../../lake/manifest/manifest.ts';
import { readManifest } from '../../../lake/manifest/pointer.ts';
import { snapshotTables } from '../../../warehouse/snapshots/snapshot-tables.ts';
import { unfitTable } from '../../../warehouse/snapshots/unfit-table.ts';
import { print, printAside, printJson, printTable } from '../../printer.ts';
import { noSnapshot, snapshotId } from './snapshot-id.ts';
import { withLake } from './with-lake.ts';

export function diffCommand(): Command {
  return new Command('diff')
    .description(
      'Show how many rows were added, removed and changed between two snapshots, by connection and table.',
    )
    .argument('<from>', 'a snapshot, usually the older one', snapshotId)
    .argument('<to>', 'the snapshot to compare it with', snapshotId)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  $ npx daybook snapshots diff 20250101T000000Z-00aa11 20250102T000000Z-22bb33',
    )
    .action(async (from: string, to: string, { json }: { json?: true }) => {
      const { diffSnapshots } = await import('../../../lake/snapshots/diff-snapshots.ts');
      const differ = await withLake(async (lake, scratch) =>
        diffSnapshots(lake, {
          first: await requireManifest(lake, from),
          second: await requireManifest(lake, to),
          keyOf: (name) => [...snapshotTables, unfitTable].find((table) => table.name === name)?.key ?? [],
          spillFolder: scratch,
          onTable: json === true ? () => undefined : slowTables(),
        }),
      );
      if (json === true) printJson({ from, to, ...differ });
      else show(differ);
    });
}

async function requireManifest(lake: Lake, id: string): Promise<Manifest> {
  const manifest = await readManifest(lake, id);
  if (manifest === undefined) throw noSnapshot(lake, id);
  return manifest;
}

/** Reports the table being compared once the comparison takes noticeably long. */
function slowTables(): (table: string) => void {
  const started = performance.now();
  return (table) => {
    if (performance.now() - started > 2_000) printAside(`comparing ${table}`);
  };
}

function show({ rows, columns }: SnapshotsDiffer): void {
  for (const { table, column, is } of columns) print(`Column ${table}.${column} was ${is}.`);
  if (rows.length === 0) {
    print('The snapshots hold the same rows.');
    return;
  }
  printTable(
    ['connection', 'table', 'added', 'removed', 'changed'],
    rows.map(({ connection_id: connection, table, added, removed, changed }) => [
      connection ?? '(none)',
      table,
      added,
      removed,
      changed,
    ]),
  );
}
