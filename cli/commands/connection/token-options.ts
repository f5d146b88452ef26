import type { Command } from 'commander';
import { readSecret } from './read-secret.ts';

export interface TokenOptions {
  tokenStdin?: boolean;
  tokenEnv?: string;
}

export function withTokenOptions(command: Command): Command {
  return command
    .option('--token-stdin', 'read the access token from standard input')
    .option('--token-env <variable>', 'read the access token from this environment variable (not from .env)');
}

export function readToken({ tokenStdin = false, tokenEnv }: TokenOptions): Promise<string> {
  return readSecret('access token', {
    stdin: tokenStdin,
    variable: tokenEnv,
    options: '--token-stdin or --token-env VARIABLE',
  });
}
