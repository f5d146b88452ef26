import { Command } from 'commander';
import { requireKnown } from '../../../warehouse/connections/require-known.ts';
import { listQuarantine } from '../../../warehouse/quarantine/read-quarantine.ts';
import { checkSecretKey } from '../../../warehouse/secrets/check-secret-key.ts';
import type { ReplayedEntry } from '../../../operations/replay-quarantine.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes, type SetExitCode } from '../../exit-codes.ts';
import { print, printJson } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';
import { entryLine } from './entry-line.ts';
import { idsArgument, namedEntries } from './named-entries.ts';

interface Options {
  connection?: string;
  json?: true;
}

export function replayCommand(setExitCode: SetExitCode): Command {
  return new Command('replay')
    .description('Retry quarantined records, as the service has them now. Without IDs: all open entries.')
    .argument('[ids...]', 'IDs of entries', idsArgument)
    .option('--connection <name>', 'only this connection')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook quarantine replay 12 13')
    .action(async (ids: number[] = [], { connection, json }: Options) => {
      if (ids.length > 0 && connection !== undefined)
        throw new UsageError('Give either IDs or --connection.');
      const { replayQuarantine } = await import('../../../operations/replay-quarantine.ts');
      const replayed = await withWarehouse(
        async (warehouse, settings) => {
          await checkSecretKey(warehouse, await settings.secretKey());
          if (connection !== undefined) await requireKnown(warehouse, connection);
          const entries =
            ids.length > 0
              ? await namedEntries(warehouse, ids)
              : await listQuarantine(warehouse, { all: false, connectionId: connection });
          const onReplayed = (entry: ReplayedEntry): void => {
            if (json !== true) print(entryLine(entry));
          };
          return replayQuarantine(settings, warehouse, { entries, reason: 'quarantine replay', onReplayed });
        },
        ['database', 'api'],
      );
      if (json === true) printJson(replayed);
      else if (replayed.length === 0) print('Nothing is in quarantine.');
      if (replayed.some(({ status }) => status === 'open')) setExitCode(exitCodes.partly);
    });
}
