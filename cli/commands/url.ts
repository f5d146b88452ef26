import { Command } from 'commander';
import { withoutRequireAuth } from '../../warehouse/session/require-auth.ts';
import { biUrl } from '../bi-url.ts';
import { loginParts } from '../login-parts.ts';
import { print, printJson } from '../printer.ts';

export function urlCommand(): Command {
  return new Command('url')
    .description('Print the URL for BI tools: a read-only login, including its password.')
    .option('--json', 'print JSON: the URL and its parts')
    .addHelpText('after', '\nExample:\n  $ npx daybook url\n  $ npx daybook url --json | jq -r .password')
    .action(async ({ json }: { json?: true }) => {
      const url = withoutRequireAuth(await biUrl());
      if (json === true) printJson({ ...loginParts(url), schemas: ['marts', 'finance'] });
      else print(url.href);
    });
}
