import type { Command } from 'commander';
import { text } from 'node:stream/consumers';
import { UsageError } from '../../errors.ts';

export interface TokenOptions {
  tokenStdin?: true;
  tokenEnv?: string;
}

export function withTokenOptions(command: Command): Command {
  return command
    .option('--token-stdin', 'read the access token from standard input')
    .option('--token-env <variable>', 'read the access token from this environment variable');
}

/** A token on the command line would be seen in the list of processes, so there is no such option. */
export async function readToken({ tokenStdin, tokenEnv }: TokenOptions): Promise<string> {
  if ((tokenStdin === true) === (tokenEnv !== undefined)) {
    throw new UsageError(
      'Say where the access token comes from: either --token-stdin or --token-env VARIABLE.',
    );
  }
  const token = (tokenEnv === undefined ? await text(process.stdin) : (process.env[tokenEnv] ?? '')).trim();
  if (token === '') {
    throw new UsageError(
      tokenEnv === undefined
        ? 'Standard input held no access token.'
        : `The variable ${tokenEnv} is not set or empty.`,
    );
  }
  return token;
}
