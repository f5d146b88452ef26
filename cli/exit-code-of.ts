import { CommanderError } from 'commander';
import { ConfigurationError } from '../config/configuration-error.ts';
import { UsageError } from './errors.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';

/** With which code a command ends that threw this. */
export function exitCodeOf(error: unknown): ExitCode {
  // Help and version are thrown too.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  return isUsage(error) ? exitCodes.usage : exitCodes.failed;
}

/** What only another command line or another configuration mends. */
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
