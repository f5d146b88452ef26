import { Command } from 'commander';
import { addCommand } from './reader/add.ts';
import { listCommand } from './reader/list.ts';
import { removeCommand } from './reader/remove.ts';

export function readerCommand(): Command {
  return new Command('reader')
    .description('Logins limited to some connections, for showing companies their own data.')
    .addHelpText('after', '\nExample:\n  $ npx daybook reader add acme-reports --connection acme-us')
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(removeCommand());
}
