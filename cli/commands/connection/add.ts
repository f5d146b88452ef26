import { Command, Option } from 'commander';
import { addConnection } from '../../../warehouse/connections/add-connection.ts';
import { readDemand } from '../../../warehouse/connections/read-demand.ts';
import { budgetWarning } from '../../../operations/demand-words.ts';
import { changeConnection } from '../../change-connection.ts';
import { checkName } from '../../check-name.ts';
import { asMilliseconds, type DurationOrOff } from '../../duration-option.ts';
import { print } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';
import { describeCompany } from './describe-company.ts';
import { everyOption } from './every-option.ts';
import { scheduleInWords } from './schedule-in-words.ts';
import { readToken, withTokenOptions, type TokenOptions } from './token-options.ts';

interface Options extends TokenOptions {
  every: DurationOrOff;
  reconcileEvery: DurationOrOff;
  schedule: boolean;
  expandPlatformData: boolean;
}

export function addCommand(): Command {
  return withTokenOptions(new Command('add'))
    .description('Add a connection and its schedules. Its access token is stored encrypted.')
    .argument('<name>', 'a name of your choice: lower-case letters, digits and hyphens')
    .addOption(everyOption('--every <duration>', 'how often it is synced').default(900_000, '15m'))
    .addOption(
      everyOption('--reconcile-every <duration>', 'how often it is reconciled').default(86_400_000, '1d'),
    )
    .addOption(
      new Option('--no-schedule', 'no schedules: sync and reconcile on request only').conflicts([
        'every',
        'reconcileEvery',
      ]),
    )
    .option('--expand-platform-data', 'also request the raw platform record', false)
    .addHelpText(
      'after',
      '\nExample:\n  $ npx daybook connection add acme-us --token-env ACME_US_TOKEN --every 5m',
    )
    .action(async (name: string, options: Options) => {
      // The message does not repeat the name, which may be the token typed in its place.
      checkName(name, "That cannot be a connection's name");
      const token = await readToken(options);
      const { schedule, expandPlatformData } = options;
      const syncEvery = schedule ? asMilliseconds(options.every) : null;
      const reconcileEvery = schedule ? asMilliseconds(options.reconcileEvery) : null;
      const { kept, tooMuch } = await withWarehouse(
        async (warehouse, settings) => {
          const { secretKey, api } = settings;
          const key = await secretKey();
          const matters = (): boolean => syncEvery !== null || reconcileEvery !== null;
          const added = await changeConnection({ warehouse, settings }, { connectionId: name, matters }, () =>
            addConnection(warehouse, key, {
              connectionId: name,
              apiAddress: api.address,
              token,
              expandPlatformData,
              syncEvery,
              reconcileEvery,
            }),
          );
          return { ...added, tooMuch: budgetWarning(await readDemand(warehouse, api)) };
        },
        ['database', 'api'],
      );
      print(`Added ${name}: ${scheduleInWords({ syncEvery, reconcileEvery })}.`);
      if (kept !== undefined) {
        print(
          `It takes over the kept records of ${describeCompany(kept)}; a token for another company is rejected.`,
        );
      }
      if (tooMuch !== undefined) print(`With it, ${tooMuch}`);
      print(`Copy its records now with: npx daybook sync ${name}`);
    });
}
