import { CommanderError } from 'commander';
import { isUsage } from '../errors/is-usage.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';

/** Returns the exit code of a command that threw this error. */
export function exitCodeOf(error: unknown): ExitCode {
  // Commander throws for help and version too.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  return isUsage(error) ? exitCodes.usage : exitCodes.failed;
}
