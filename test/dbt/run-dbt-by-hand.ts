import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonWithDbt } from '../../marts/python-with-dbt.ts';
import { cacheFolder } from '../support/cache-folder.ts';

/** Runs dbt as a person who installed it does. On failure it throws with dbt's output. */
export async function runDbtByHand(
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Readonly<Record<string, string>> },
): Promise<string> {
  const python = await pythonWithDbt({ cacheFolder, onStep: () => undefined });
  const environment = {
    ...process.env,
    ...env,
    DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
    DBT_PROFILES_DIR: cwd,
  };
  const { stdout } = await promisify(execFile)(join(python, '..', 'dbt'), [...args, '--no-use-colors'], {
    cwd,
    env: environment,
    maxBuffer: 16_000_000,
  }).catch((error: unknown) => {
    throw new Error(error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error));
  });
  return stdout;
}
