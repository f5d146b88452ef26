import { Command } from 'commander';
import { discardEntries } from '../../../warehouse/quarantine/discard-entries.ts';
import { readQuarantineEntries } from '../../../warehouse/quarantine/read-quarantine.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes, type SetExitCode } from '../../exit-codes.ts';
import { print, printJson } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';
import { entryLine } from './entry-line.ts';
import { idsArgument, namedEntries } from './named-entries.ts';

export function discardCommand(setExitCode: SetExitCode): Command {
  return new Command('discard')
    .description(
      'Close entries for records you do not want, as "quarantine show" shows them now. If a record arrives again with different content, it opens a new entry.',
    )
    .argument('<ids...>', 'IDs of entries', idsArgument)
    .requiredOption('--why <text>', 'the reason, kept with the entry')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook quarantine discard 12 --why "test data of the vendor"')
    .action(async (ids: number[], { why, json }: { why: string; json?: true }) => {
      if (why.trim() === '') throw new UsageError('--why needs a reason.');
      const entries = await withWarehouse(async (warehouse) => {
        await discardEntries(warehouse, { entries: await namedEntries(warehouse, ids), why });
        return readQuarantineEntries(warehouse, ids);
      });
      if (entries.some(({ status }) => status === 'open')) setExitCode(exitCodes.partly);
      if (json === true) printJson(entries);
      else for (const entry of entries) print(entryLine(entry));
    });
}
