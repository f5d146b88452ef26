import { Command } from 'commander';
import type { DamageFound } from '../../../lake/snapshots/find-damage.ts';
import { namesOfSnapshots, type Lake } from '../../../lake/lake.ts';
import { countUnfit, unfitTableName } from '../../../lake/manifest/manifest.ts';
import { readPointer } from '../../../lake/manifest/pointer.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes, type SetExitCode } from '../../exit-codes.ts';
import { print, printJson, printTable } from '../../printer.ts';
import { noSnapshot, snapshotId } from './snapshot-id.ts';
import { withLake } from './with-lake.ts';

export function verifyCommand(setExitCode: SetExitCode): Command {
  return new Command('verify')
    .description(
      'Reread every file of a snapshot and compare it with the manifest. Exits with 1 if the snapshot is damaged.',
    )
    .argument('[id]', 'the snapshot (default: the latest)', snapshotId)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook snapshots verify')
    .action(async (wanted: string | undefined, { json }: { json?: true }) => {
      const { verifySnapshot } = await import('../../../lake/snapshots/verify-snapshot.ts');
      const { id, ...verified } = await withLake(async (lake, scratch) => {
        const named = wanted ?? (await readPointer(lake))?.snapshot_id;
        if (named === undefined) throw new UsageError(`There are no snapshots in ${lake.location} yet.`);
        await requireSnapshot(lake, named);
        return { id: named, ...(await verifySnapshot(lake, { id: named, spillFolder: scratch })) };
      });
      if (json === true) printJson({ id, ok: verified.problems.length === 0, ...inJson(verified) });
      else show(id, verified);
      if (verified.problems.length > 0) setExitCode(exitCodes.failed);
    });
}

/** Throws if nothing is left of a snapshot and no pointer names it: it never existed, or is properly gone. Otherwise it is damaged. */
async function requireSnapshot(lake: Lake, id: string): Promise<void> {
  if ((await lake.isThere(`snapshots/${id}`)) || (await namesOfSnapshots(lake)).has(id)) return;
  throw noSnapshot(lake, id);
}

function inJson({ manifest, problems }: DamageFound): Record<string, unknown> {
  const { rows = 0, bytes = 0, unfit = [] } = manifest ?? {};
  const unfitValues = manifest === undefined ? 0 : countUnfit(manifest);
  const tables = Object.keys(manifest?.tables ?? {}).length;
  return { problems, tables, rows, bytes, unfit, unfit_values: unfitValues };
}

function show(id: string, { manifest, problems }: DamageFound): void {
  if (problems.length > 0) {
    print(`Snapshot ${id} is damaged:`);
    for (const problem of problems) print(`- ${problem}`);
  } else if (manifest !== undefined) {
    const tables = Object.keys(manifest.tables).length;
    print(`Snapshot ${id} is intact: ${manifest.rows.toLocaleString('en-US')} rows in ${tables} tables.`);
  }
  const unfit = manifest?.unfit ?? [];
  if (manifest === undefined || countUnfit(manifest) === 0) return;
  print('\nValues that their Parquet type cannot hold to the last digit:');
  printTable(
    ['table', 'column', 'key', 'value', 'in the file'],
    unfit
      .slice(0, unfitShown)
      .map(({ table, column, key, value, rounded }) => [
        table,
        column,
        Object.values(key).join(' '),
        value,
        rounded === true ? 'rounded' : 'null',
      ]),
  );
  const more = countUnfit(manifest) - Math.min(unfit.length, unfitShown);
  const place = manifest.tables[unfitTableName] === undefined ? '--json' : `the table ${unfitTableName}`;
  if (more > 0) print(`… and ${more.toLocaleString('en-US')} more: ${place} lists them all.`);
}

/** Services that compute in doubles send thousands of such values. */
const unfitShown = 20;
