import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { PostgresAccount } from './postgres-account.ts';
import { createPrivateFile } from './private-file.ts';
import { readFileIfThere } from './read-file-if-there.ts';

/**
 * Makes the data folder when there is none, and returns the password that its users share, kept in `<dataDir>.password`.
 * It is made under another name and renamed, so what has the right name is complete.
 */
export async function createCluster(input: ClusterInput): Promise<{ password: string }> {
  const passwordFile = `${input.dataDir}.password`;
  if ((await readFileIfThere(`${input.dataDir}/PG_VERSION`)) === undefined) {
    await mkdir(dirname(input.dataDir), { recursive: true, mode: 0o700 });
    await createPrivateFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`);
    await initialise(input, passwordFile);
  }
  const password = await readFileIfThere(passwordFile);
  if (password === undefined) {
    throw new Error(
      `${passwordFile} is missing, so nobody can log in to the Postgres in ${input.dataDir}; put the file back.`,
    );
  }
  return { password: password.trim() };
}

export interface ClusterInput {
  readonly dataDir: string;
  readonly initdb: string;
  readonly account: PostgresAccount;
}

async function initialise({ dataDir, initdb, account }: ClusterInput, passwordFile: string): Promise<void> {
  const unfinished = `${dataDir}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await account.own(unfinished);
  const [command, ...args] = account.wrap([initdb, ...initdbArguments(unfinished, passwordFile)]);
  try {
    await promisify(execFile)(command, args);
  } catch (error) {
    throw new Error(`Postgres could not make its data folder ${dataDir}: ${outputOf(error)}`, {
      cause: error,
    });
  }
  await rename(unfinished, dataDir);
}

function initdbArguments(dataDir: string, passwordFile: string): string[] {
  return [
    `--pgdata=${dataDir}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Built in: sorts the same on every system and after every upgrade of it, and needs no locale to be installed.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
  ];
}

function outputOf(error: unknown): string {
  if (error instanceof Error && 'stderr' in error && String(error.stderr) !== '')
    return String(error.stderr).trim();
  return error instanceof Error ? error.message : String(error);
}
