import { CommanderError } from 'commander';
import { ConfigurationError } from '../config/configuration-error.ts';
import { UsageError } from './errors.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';

/** Returns the exit code of a command that threw this error. */
export function exitCodeOf(error: unknown): ExitCode {
  // Commander throws for help and version too.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  return isUsage(error) ? exitCodes.usage : exitCodes.failed;
}

/** True if only another command line or another configuration can help. */
function isUsage(error: unknown): boolean {
  if (error instanceof UsageError || error instanceof ConfigurationError) return true;
  return (
    error instanceof Error &&
    [
      'WrongSecretKey',
      'KeyRotated',
      'NamespaceNotOurs',
      'SchemaOutdated',
      'PoolerUnfit',
      'DirectUrlElsewhere',
      'MigrationRefused',
      'ForeignSchema',
      'JavaMissing',
      'NoIcebergSnapshot',
      'SparkBehindPooler',
      'PythonMissing',
      'NoSnapshot',
      'NoOwnConnection',
      'MartsMissing',
      'UnknownResource',
      'ForeignHome',
      'HomeUnusable',
      'HttpAddressUnusable',
      'ForeignFolder',
    ].includes(error.name)
  );
}
