import { Command } from 'commander';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { print, printJson, printTable } from '../printer.ts';
import { withWarehouse } from '../with-warehouse.ts';

export function pruneCommand(): Command {
  return new Command('prune')
    .description(
      'Remove runs (with their closed entries, webhooks and alerts) and record versions that DAYBOOK_KEEP_RUNS, DAYBOOK_KEEP_QUIET_RUNS and DAYBOOK_KEEP_HISTORY no longer keep. Snapshots are not pruned here: exports remove those that DAYBOOK_KEEP_SNAPSHOTS no longer keeps.',
    )
    .option('--dry-run', 'only count what would be removed', false)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ DAYBOOK_KEEP_HISTORY=730d npx daybook prune --dry-run')
    .action(async ({ dryRun, json }: { dryRun: boolean; json?: true }) => {
      const pruned = await withWarehouse((warehouse, { policies: { keep } }) =>
        pruneWarehouse(warehouse, { keep, dryRun }),
      );
      if (json === true) {
        printJson({ dry_run: dryRun, rows: pruned });
        return;
      }
      printTable(['table', dryRun ? 'would be removed' : 'removed'], Object.entries(pruned));
      if (dryRun) print('\nNothing was removed: this was a dry run.');
    });
}
