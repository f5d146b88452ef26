import { Command } from 'commander';
import type { SetExitCode } from '../exit-codes.ts';
import { checkResources, listOption } from '../options.ts';
import { runAndFollow } from '../run-and-follow.ts';

interface Options {
  resource?: string[];
  approveDeletes: boolean;
  wait: boolean;
  json?: boolean;
}

export function reconcileCommand(setExitCode: SetExitCode): Command {
  return new Command('reconcile')
    .description(
      'List every record of a connection, repair what differs, and prove that both sides are equal.',
    )
    .argument('<name>', 'the connection')
    .option('--resource <resource>', 'one resource only; may be given several times', listOption)
    .option('--approve-deletes', 'first delete what the last stopped reconcile listed', false)
    .option('--no-wait', 'start it and return')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook reconcile acme-us --resource bills')
    .action(async (connection: string, options: Options) => {
      const { resource: resources = [], approveDeletes, wait, json = false } = options;
      checkResources(resources);
      const input = {
        connection,
        ...(resources.length > 0 ? { resources } : {}),
        ...(approveDeletes ? { approveDeletes } : {}),
        reason: 'daybook reconcile',
      };
      setExitCode(
        await runAndFollow(
          { workflow: 'reconcileConnection', workflowId: `reconcile/${connection}`, input },
          { wait, json },
        ),
      );
    });
}
