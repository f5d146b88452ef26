import { Command } from 'commander';
import { withoutRequireAuth } from '../../warehouse/session/require-auth.ts';
import { biUrl } from '../bi-url.ts';
import { print, printJson } from '../printer.ts';

export function urlCommand(): Command {
  return new Command('url')
    .description('Print the URL for BI tools: a read-only login, including its password.')
    .option('--json', 'print JSON: the URL and its parts')
    .addHelpText('after', '\nExample:\n  $ npx daybook url\n  $ npx daybook url --json | jq -r .password')
    .action(async ({ json }: { json?: true }) => {
      const url = withoutRequireAuth(await biUrl());
      if (json === true) printJson(inJson(url));
      else print(url.href);
    });
}

function inJson(url: URL): Record<string, unknown> {
  const { href, hostname, port, pathname, username, password } = url;
  return {
    url: href,
    host: hostname,
    port: port === '' ? 5432 : Number(port),
    database: decodeURIComponent(pathname.slice(1)),
    user: username,
    password,
    schemas: ['marts', 'finance'],
  };
}
