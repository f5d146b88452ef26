import { Command, Option } from 'commander';
import { recordsBounds } from '../../sandbox/records-bounds.ts';
import type { SandboxOptions } from '../../sandbox/sandbox-options.ts';
import { countBetween, countOption, portOption } from '../options.ts';
import { print, printJson, printTable } from '../printer.ts';

interface Options {
  port: number;
  adminPort: number;
  seed?: number;
  records?: number;
  chaos?: NonNullable<SandboxOptions['chaos']>;
  json?: true;
}

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description(
      'Run the sandbox API alone, until stopped: the finance API with made-up, deterministic data.',
    )
    .option('--port <port>', 'port of the API', portOption, 8391)
    .option('--admin-port <port>', 'port of the admin interface; 0 takes a free one', portOption, 0)
    .option('--seed <n>', 'the same seed gives the same data', countOption)
    .option('--records <n>', 'records per connection, 100 to 1,000,000', countBetween(...recordsBounds))
    .addOption(
      new Option('--chaos <profile>', 'faults to inject').choices(['none', 'flaky', 'nasty', 'future']),
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook sandbox --port 8391 --records 100000 --chaos flaky')
    .action(async ({ json, ...options }: Options) => {
      const { startSandbox } = await import('../../sandbox/start-sandbox.ts');
      const { untilStopped } = await import('../until-stopped.ts');
      const stopped = untilStopped();
      const sandbox = await startSandbox(options);
      const { url, adminUrl, connections } = sandbox;
      if (json === true) printJson({ url, adminUrl, connections });
      else {
        print(`Sandbox API      ${url}`);
        print(`Admin interface  ${adminUrl}`);
        print('Credentials      sandbox-client / sandbox-secret\n');
        printTable(
          ['connection', 'platform', 'access token'],
          connections.map(({ name, platform, accessToken }) => [name, platform, accessToken]),
        );
      }
      await stopped;
      await sandbox.close();
    });
}
