import { Command } from 'commander';
import { resourceNames } from '../../resources/index.ts';
import { UsageError } from '../errors.ts';
import type { SetExitCode } from '../program.ts';
import { listOption } from '../options.ts';
import { print, printJson } from '../printer.ts';
import { withWarehouse } from '../with-warehouse.ts';

interface Options {
  resource?: string[];
  wait: boolean;
  json?: true;
}

export function syncCommand(setExitCode: SetExitCode): Command {
  return new Command('sync')
    .description('Run the sync of a connection, or join the one that runs.')
    .argument('<name>', 'the connection')
    .option('--resource <resource>', 'one resource only; may be given several times', listOption)
    .option('--no-wait', 'start it and return')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook sync acme-us --resource bills')
    .action(async (name: string, { resource: resources = [], wait, json }: Options) => {
      const unknown = resources.filter((resource) => !resourceNames.includes(resource));
      if (unknown.length > 0) {
        throw new UsageError(
          `There is no resource ${unknown.join(', ')}. The resources are ${resourceNames.join(', ')}.`,
        );
      }
      await withWarehouse(
        async (warehouse, settings) => {
          const { connectTemporal } = await import('../../worker/temporal-client.ts');
          const { startSync } = await import('../start-sync.ts');
          const { followRun } = await import('../follow-run.ts');
          const client = await connectTemporal(settings);
          try {
            const started = await startSync({ client, warehouse, settings }, { connection: name, resources });
            if (!wait) {
              if (json === true) printJson(started);
              else print(`${started.joined ? 'Already running' : 'Started'}: ${started.link}`);
              return;
            }
            const { exitCode, run } = await followRun(
              { client, warehouse },
              { ...started, quiet: json === true },
            );
            if (json === true) printJson(run);
            setExitCode(exitCode);
          } finally {
            await client.connection.close();
          }
        },
        ['database', 'temporal', 'api'],
      );
    });
}
