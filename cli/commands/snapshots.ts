import { Command } from 'commander';
import type { SetExitCode } from '../exit-codes.ts';
import { diffCommand } from './snapshots/diff.ts';
import { forgetCommand } from './snapshots/forget.ts';
import { listCommand } from './snapshots/list.ts';
import { verifyCommand } from './snapshots/verify.ts';

export function snapshotsCommand(setExitCode: SetExitCode): Command {
  return new Command('snapshots')
    .description('The Parquet snapshots in the lake.')
    .addHelpText('after', '\nExample:\n  $ npx daybook snapshots list')
    .addCommand(listCommand())
    .addCommand(verifyCommand(setExitCode))
    .addCommand(diffCommand())
    .addCommand(forgetCommand());
}
