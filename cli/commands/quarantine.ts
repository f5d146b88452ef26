import { Command } from 'commander';
import type { SetExitCode } from '../exit-codes.ts';
import { discardCommand } from './quarantine/discard.ts';
import { listCommand } from './quarantine/list.ts';
import { replayCommand } from './quarantine/replay.ts';
import { showCommand } from './quarantine/show.ts';

export function quarantineCommand(setExitCode: SetExitCode): Command {
  return new Command('quarantine')
    .description('Records that could not be landed.')
    .addHelpText('after', '\nExample:\n  $ npx daybook quarantine list')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(replayCommand(setExitCode))
    .addCommand(discardCommand(setExitCode));
}
