import { Command } from 'commander';
import { budgetWarning } from '../../../operations/demand-words.ts';
import { readDemand } from '../../../warehouse/connections/read-demand.ts';
import { setSchedule } from '../../../warehouse/connections/set-schedule.ts';
import { UsageError } from '../../errors.ts';
import { changeConnection } from '../../change-connection.ts';
import { asMilliseconds, type DurationOrOff } from '../../duration-option.ts';
import { print } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';
import { everyOption } from './every-option.ts';
import { scheduleInWords } from './schedule-in-words.ts';

interface Options {
  every?: DurationOrOff;
  reconcileEvery?: DurationOrOff;
}

export function setCommand(): Command {
  return new Command('set')
    .description('Change how often a connection is synced and reconciled.')
    .argument('<name>', 'the connection')
    .addOption(everyOption('--every <duration>', 'how often it is synced'))
    .addOption(everyOption('--reconcile-every <duration>', 'how often it is reconciled'))
    .addHelpText(
      'after',
      '\nExample:\n  $ npx daybook connection set acme-us --every 1h --reconcile-every off',
    )
    .action(async (connectionId: string, { every, reconcileEvery }: Options) => {
      if (every === undefined && reconcileEvery === undefined) {
        throw new UsageError('Give --every, --reconcile-every or both.');
      }
      const { set, tooMuch } = await withWarehouse(async (warehouse, settings) => {
        const set = await changeConnection({ warehouse, settings }, { connectionId }, () =>
          setSchedule(warehouse, {
            connectionId,
            ...(every === undefined ? {} : { syncEvery: asMilliseconds(every) }),
            ...(reconcileEvery === undefined ? {} : { reconcileEvery: asMilliseconds(reconcileEvery) }),
          }),
        );
        return { set, tooMuch: budgetWarning(await readDemand(warehouse, settings.api)) };
      });
      print(`${connectionId}: ${scheduleInWords(set)}.`);
      if (tooMuch !== undefined) print(`With it, ${tooMuch}`);
    });
}
