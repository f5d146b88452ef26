import { Command } from 'commander';
import { addCommand } from './connection/add.ts';
import { listCommand } from './connection/list.ts';
import { pauseCommand } from './connection/pause.ts';
import { removeCommand } from './connection/remove.ts';
import { resumeCommand } from './connection/resume.ts';
import { rotateKeyCommand } from './connection/rotate-key.ts';
import { setCommand } from './connection/set.ts';
import { setTokenCommand } from './connection/set-token.ts';

export function connectionCommand(): Command {
  return new Command('connection')
    .description('The connections to accounting platforms.')
    .addHelpText(
      'after',
      '\nExample:\n  $ npx daybook connection add acme-us --token-env ACME_US_TOKEN --every 5m',
    )
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(setCommand())
    .addCommand(pauseCommand())
    .addCommand(resumeCommand())
    .addCommand(setTokenCommand())
    .addCommand(rotateKeyCommand())
    .addCommand(removeCommand());
}
