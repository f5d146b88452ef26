import { Command } from 'commander';
import { buildCommand } from './dbt/build.ts';

export function dbtCommand(): Command {
  return new Command('dbt')
    .description('Finance models: accounts payable, spend, cash, recurring revenue.')
    .addHelpText('after', '\nExample:\n  $ npx daybook dbt build')
    .addCommand(buildCommand());
}
