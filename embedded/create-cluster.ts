import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PostgresAccount } from './postgres-account.ts';
import { createPrivateFile, readPrivateFile, replacePrivateFile } from './private-file.ts';
import { readFileIfThere } from './read-file-if-there.ts';
import { serverEnvironment } from './server-environment.ts';

/**
 * Creates the data folder if there is none, and returns the passwords of its owner (kept in `<dataDir>.password`) and of the
 * superuser (`<dataDir>.superuser`). They differ, because the owner's is part of URLs that people get to see.
 * The folder is created under another name and then renamed, so a folder with the final name is complete.
 */
export async function createCluster(input: ClusterInput): Promise<ClusterPasswords> {
  const files = { owner: `${input.dataDir}.password`, superuser: `${input.dataDir}.superuser` };
  const isNew = (await readFileIfThere(`${input.dataDir}/PG_VERSION`)) === undefined;
  if (isNew) {
    await mkdir(dirname(input.dataDir), { recursive: true, mode: 0o700 });
    await makePassword(files.owner);
  }
  // A data folder from a release before 0.6 has no such file; `prepareDatabase` then gives the superuser this password.
  await makePassword(files.superuser);
  const passwords = {
    owner: await readPassword(files.owner),
    superuser: await readPassword(files.superuser),
  };
  if (isNew) await initialise(input, passwords.superuser);
  return passwords;
}

/** Returns a new password. Once the owner has it, `keepOwnerPassword` stores it for the next start. */
export function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

export async function keepOwnerPassword(dataDir: string, password: string): Promise<void> {
  await replacePrivateFile(`${dataDir}.password`, `${password}\n`);
}

export interface ClusterInput {
  readonly dataDir: string;
  readonly initdb: string;
  readonly account: PostgresAccount;
}

export interface ClusterPasswords {
  readonly owner: string;
  readonly superuser: string;
}

async function makePassword(file: string): Promise<void> {
  await createPrivateFile(file, `${newPassword()}\n`);
}

async function readPassword(file: string): Promise<string> {
  const password = await readPrivateFile(file);
  if (password === undefined) {
    throw new Error(`${file} is missing, so nobody can log in to the Postgres beside it; put the file back.`);
  }
  return password.trim();
}

async function initialise({ dataDir, initdb, account }: ClusterInput, password: string): Promise<void> {
  const unfinished = `${dataDir}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await account.own(unfinished);
  const command = account.wrap([initdb, ...initdbArguments(account.nameOf(unfinished))]);
  const said = await withPasswordFile({ folder: unfinished, account, password }, (fd) =>
    run(command, { cwd: unfinished, fd }),
  );
  if (said !== undefined) throw new Error(`Postgres could not make its data folder ${dataDir}: ${said}`);
  await rename(unfinished, dataDir);
}

/** Passes the password as an open file: the account may have no access to the folders above a path. */
async function withPasswordFile<Result>(
  { folder, account, password }: { folder: string; account: PostgresAccount; password: string },
  use: (fd: number) => Promise<Result>,
): Promise<Result> {
  const file = `${folder}.password`;
  await rm(file, { force: true });
  await createPrivateFile(file, `${password}\n`);
  await account.own(file);
  const handle = await open(file, 'r');
  try {
    return await use(handle.fd);
  } finally {
    await handle.close();
    await rm(file, { force: true });
  }
}

/** Returns undefined, or the output of a failed command. */
async function run(
  [command, ...args]: readonly [string, ...string[]],
  { cwd, fd }: { cwd: string; fd: number },
): Promise<string | undefined> {
  const child = spawn(command, args, {
    cwd,
    env: serverEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe', fd],
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const failure = await once(child, 'close').then(
    ([code]) => (code === 0 ? undefined : `exit code ${String(code)}`),
    (error: unknown) => String(error),
  );
  return failure === undefined ? undefined : said.trim() || failure;
}

/** File descriptor 3 of the child. */
const passwordFile = '/dev/fd/3';

function initdbArguments(dataDir: string): string[] {
  return [
    `--pgdata=${dataDir}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The builtin provider sorts the same on every system and after every upgrade, and needs no installed locale.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
  ];
}
