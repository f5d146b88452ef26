import { Command } from 'commander';
import type { DamageFound } from '../../../lake/find-damage.ts';
import { readPointer } from '../../../lake/pointer.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes, type SetExitCode } from '../../exit-codes.ts';
import { print, printJson, printTable } from '../../printer.ts';
import { snapshotId } from './snapshot-id.ts';
import { withLake } from './with-lake.ts';

export function verifyCommand(setExitCode: SetExitCode): Command {
  return new Command('verify')
    .description(
      'Read every file of a snapshot again and compare it with its manifest. Exits with 1 when it is broken.',
    )
    .argument('[id]', 'the snapshot; without it the latest', snapshotId)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook snapshots verify')
    .action(async (wanted: string | undefined, { json }: { json?: true }) => {
      const { verifySnapshot } = await import('../../../lake/verify-snapshot.ts');
      const { id, ...verified } = await withLake(async (lake, scratch) => {
        const named = wanted ?? (await readPointer(lake))?.snapshot_id;
        if (named === undefined) throw new UsageError(`There are no snapshots in ${lake.location} yet.`);
        return { id: named, ...(await verifySnapshot(lake, { id: named, spillFolder: scratch })) };
      });
      if (json === true) printJson({ id, ok: verified.problems.length === 0, ...inJson(verified) });
      else show(id, verified);
      if (verified.problems.length > 0) setExitCode(exitCodes.failed);
    });
}

function inJson({ manifest, problems }: DamageFound): Record<string, unknown> {
  const { rows = 0, bytes = 0, unfit = [] } = manifest ?? {};
  return { problems, tables: Object.keys(manifest?.tables ?? {}).length, rows, bytes, unfit };
}

function show(id: string, { manifest, problems }: DamageFound): void {
  if (problems.length > 0) {
    print(`Snapshot ${id} is broken:`);
    for (const problem of problems) print(`- ${problem}`);
  } else if (manifest !== undefined) {
    const tables = Object.keys(manifest.tables).length;
    print(`Snapshot ${id} is whole: ${manifest.rows.toLocaleString('en-US')} rows in ${tables} tables.`);
  }
  const unfit = manifest?.unfit ?? [];
  if (unfit.length === 0) return;
  print('\nValues that their Parquet type cannot hold to the last digit:');
  printTable(
    ['table', 'column', 'key', 'value', 'in the file'],
    unfit
      .slice(0, unfitShown)
      .map(({ table, column, key, value, rounded }) => [
        ...[table, column, Object.values(key).join(' '), value],
        rounded === true ? 'rounded' : 'null',
      ]),
  );
  if (unfit.length > unfitShown)
    print(`… and ${(unfit.length - unfitShown).toLocaleString('en-US')} more: --json lists them all.`);
}

/** Services that compute in doubles send thousands. */
const unfitShown = 20;
