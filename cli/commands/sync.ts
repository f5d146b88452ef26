import { Command } from 'commander';
import { startRequest } from '../../temporal/start-request.ts';
import type { SetExitCode } from '../exit-codes.ts';
import { resourceOption, resourcesInput } from '../options.ts';
import { runAndFollow } from '../run-and-follow.ts';

interface Options {
  resource?: string[];
  wait: boolean;
  json?: boolean;
}

export function syncCommand(setExitCode: SetExitCode): Command {
  return new Command('sync')
    .description('Sync a connection, or join the sync that is already running.')
    .argument('<name>', 'the connection')
    .addOption(resourceOption())
    .option('--no-wait', 'start it and return')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook sync acme-us --resource bills')
    .action(async (connection: string, { resource: resources = [], wait, json = false }: Options) => {
      const input = { connection, ...resourcesInput(resources), reason: 'daybook sync' };
      setExitCode(await runAndFollow(startRequest('sync', input, 'people'), { wait, json }));
    });
}
