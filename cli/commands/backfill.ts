import { Command } from 'commander';
import {
  backfillPlan,
  InvalidBackfill,
  longestWindow,
  shortestWindow,
  type BackfillPlan,
} from '../../warehouse/passes/backfill-plan.ts';
import { startRequest } from '../../temporal/start-request.ts';
import { dayIfMidnight } from '../../temporal/workflow-ids.ts';
import { longestInterval } from '../../config/duration.ts';
import { durationOption } from '../duration-option.ts';
import { UsageError } from '../errors.ts';
import { exitCodes, type ExitCode, type SetExitCode } from '../exit-codes.ts';
import { resourceOption, resourcesInput } from '../options.ts';
import { runAndFollow } from '../run-and-follow.ts';
import { previewBackfill } from './backfill/preview-backfill.ts';
import { scheduleBackfill, type ScheduleOptions as Options } from './backfill/schedule-backfill.ts';

const examples = `
Example:
  $ npx daybook backfill acme-us --from 2024-01-01 --to 2024-07-01 --dry-run
  $ npx daybook backfill acme-us --from 2024-01-01 --to 2024-07-01 --window 7d --resource bills
  $ npx daybook backfill acme-us --last 90d --every 7d
  $ npx daybook backfill acme-us --every off`;

const ofSchedules = { least: 3_600_000, most: longestInterval };

export function backfillCommand(setExitCode: SetExitCode): Command {
  return new Command('backfill')
    .description(
      'Reread what was updated in a period. Repairs records, never deletes any, and leaves watermarks alone.',
    )
    .argument('<name>', 'the connection')
    .option('--from <time>', 'start of the period: a day or a time, inclusive')
    .option('--to <time>', 'end of the period: a day or a time, exclusive')
    .addOption(
      durationOption('--window <duration>', 'length of each window, 30d unless given', {
        least: shortestWindow,
        most: longestWindow,
      }),
    )
    .addOption(resourceOption())
    .option('--dry-run', 'show what would be read, and read nothing')
    .addOption(durationOption('--last <duration>', 'with --every: how far back each run reads', ofSchedules))
    .addOption(
      durationOption('--every <duration>', 'schedule the backfill at this interval', {
        ...ofSchedules,
        off: true,
      }),
    )
    .option('--no-wait', 'start it and return')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(async (name: string, options: Options) => {
      if (options.every !== undefined || options.last !== undefined) await scheduleBackfill(name, options);
      else setExitCode(await backfill(name, options));
    });
}

async function backfill(connection: string, options: Options): Promise<ExitCode> {
  const { resource: resources = [], dryRun = false, wait, json = false } = options;
  const named = resourcesInput(resources);
  const plan = parsePlan(options);
  if (dryRun) {
    await previewBackfill({ connection, plan, json });
    return exitCodes.done;
  }
  const input = {
    connection,
    from: dayIfMidnight(plan.from),
    to: dayIfMidnight(plan.to),
    windowMilliseconds: plan.windowMilliseconds,
    ...named,
    reason: 'daybook backfill',
  };
  return runAndFollow(startRequest('backfill', input, 'people'), { wait, json });
}

function parsePlan({
  from,
  to,
  window: windowMilliseconds,
  resource: resources = [],
}: Options): BackfillPlan {
  if (from === undefined || to === undefined)
    throw new UsageError('Give a period: --from 2024-01-01 --to 2024-07-01, or --last 90d --every 7d.');
  try {
    return backfillPlan({ from, to, windowMilliseconds, resources });
  } catch (error) {
    if (error instanceof InvalidBackfill) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
