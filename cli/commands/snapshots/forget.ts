import { rm } from 'node:fs/promises';
import { Command } from 'commander';
import { openHome } from '../../../embedded/home.ts';
import { scratchOfCommand } from '../../../lake/files/scratch-of-command.ts';
import { counted } from '../../../server/frame/counted.ts';
import { print, printJson } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export function forgetCommand(): Command {
  return new Command('forget')
    .description(
      'Record that snapshots are gone from a location where they were published, so that "erase" stops requiring it. Refused while they are still there.',
    )
    .argument('<place>', 'the folder or bucket, as "erase" names it')
    .option(
      '--force',
      'skip the check: the location no longer exists, or its snapshots belong to the warehouse that this one was copied from',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook snapshots forget s3://old-bucket/books')
    .action(async (place: string, { force = false, json }: { force?: boolean; json?: true }) => {
      const { forgetSnapshots } = await import('../../../operations/forget-snapshots.ts');
      const forgotten = await withWarehouse(async (warehouse, { lake: { location }, marts: { home } }) => {
        const scratch = await scratchOfCommand((await openHome(home)).root);
        try {
          return await forgetSnapshots({ warehouse, location, scratch }, { place, force });
        } finally {
          await rm(scratch, { recursive: true, force: true });
        }
      });
      if (json === true) printJson(forgotten);
      else show(place, forgotten);
    });
}

function show(place: string, { gone, moved }: { gone: string[]; moved: string[] }): void {
  const count = gone.length + moved.length;
  print(`Forgot ${counted(count, 'snapshot')} of ${place}.`);
  if (moved.length > 0)
    print(`${counted(moved.length, 'snapshot is', 'snapshots are')} now recorded in this lake.`);
}
