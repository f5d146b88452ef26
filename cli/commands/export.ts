import { Command } from 'commander';
import { formatDuration, longestInterval } from '../../config/duration.ts';
import { asMilliseconds, durationOption, type DurationOrOff } from '../duration-option.ts';
import { UsageError } from '../errors.ts';
import { print, printJson } from '../printer.ts';
import type { SetExitCode } from '../exit-codes.ts';

interface Options {
  every?: DurationOrOff;
  /** Undefined: waits until the snapshot is published. */
  wait?: boolean;
  force: boolean;
  iceberg: boolean;
  json?: boolean;
}

export function exportCommand(setExitCode: SetExitCode): Command {
  return new Command('export')
    .description(
      'Publish all tables as one consistent Parquet snapshot if anything has changed since the last one, then build the marts.',
    )
    .addOption(
      durationOption('--every <duration>', 'do not export now, but schedule exports at this interval', {
        least: 60_000,
        most: longestInterval,
        off: true,
      }),
    )
    .option('--wait', 'wait until the marts are built too')
    .option('--no-wait', 'start it and return')
    .option('--force', 'publish a snapshot even if nothing has changed', false)
    .option('--iceberg', 'also publish it as Iceberg tables, as DAYBOOK_LAKE_FORMAT=iceberg does', false)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook export --wait\n  $ npx daybook export --every 1h')
    .action(async (options: Options) => {
      const { every, wait, force, iceberg, json = false } = options;
      if (every !== undefined) {
        refuseOthers(options);
        await setEvery(asMilliseconds(every), json);
      } else {
        const { runExport } = await import('./export/run-export.ts');
        const until = wait === undefined ? 'published' : wait ? 'marts' : 'started';
        setExitCode(await runExport({ until, force, iceberg, json }));
      }
    });
}

/** Refuses options that are valid for a single export only. */
function refuseOthers({ wait, force, iceberg }: Options): void {
  const others = [
    ...(force ? ['--force'] : []),
    ...(iceberg ? ['--iceberg'] : []),
    ...(wait === undefined ? [] : [wait ? '--wait' : '--no-wait']),
  ];
  if (others.length > 0)
    throw new UsageError(
      `--every sets a schedule only, so leave out ${others.join(' and ')}. For Iceberg tables of each snapshot, set DAYBOOK_LAKE_FORMAT=iceberg.`,
    );
}

async function setEvery(every: number | null, json: boolean): Promise<void> {
  await (await import('./export/change-export-schedule.ts')).changeExportSchedule(every);
  if (json) printJson({ every_seconds: every === null ? null : every / 1_000 });
  else
    print(
      every === null ? 'Exports have no schedule.' : `A snapshot is exported every ${formatDuration(every)}.`,
    );
}
