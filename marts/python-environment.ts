import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from '../errors/code-of.ts';
import { withoutSecrets } from '../scripts/without-secrets.mjs';
import type { BuildSettings } from './build-settings.ts';
import { dbtProject } from './dbt-project.ts';
import { PythonMissing, PythonPackagesMissing } from './errors.ts';

const run = promisify(execFile);

/**
 * The Python that has dbt: made on first use (a minute, mostly downloads), then found again by the hash of its requirements.
 * Safe under two at once. Throws PythonMissing, PythonPackagesMissing.
 */
export async function pythonWithDbt(
  input: Pick<BuildSettings, 'cacheFolder' | 'onStep' | 'signal'>,
): Promise<string> {
  const requirements = join(dbtProject, 'requirements.txt');
  const version = await pythonVersion();
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .update(version)
    .digest('hex');
  const environment = join(input.cacheFolder, `dbt-${hash.slice(0, 16)}`);
  if (!existsSync(join(environment, readyFile))) {
    const started = performance.now();
    input.onStep(`dbt is being installed for Python ${version}, once`);
    await install({ environment, requirements, signal: input.signal });
    input.onStep(`dbt installed in ${Math.round((performance.now() - started) / 1000)} s`);
  }
  return join(environment, 'bin', 'python');
}

/** Throws PythonMissing. */
export async function pythonVersion(): Promise<string> {
  // Isolated, or a platform.py of the working folder would be run; and whatever is called python3 is told no secret.
  const version = await run('python3', ['-I', '-c', 'import platform; print(platform.python_version())'], {
    env: withoutSecrets(process.env),
  }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  if (version === undefined || major !== 3 || minor < 10) throw new PythonMissing(version);
  return version;
}

/** Written last: an environment without it was being made by a process that was killed. */
const readyFile = '.ready';

/**
 * A virtual environment knows its own path, so it cannot be made elsewhere and moved. Each process makes one of its own, and a
 * link of the common name appears in one step; who comes second throws its own away.
 */
async function install({
  environment,
  requirements,
  signal,
}: {
  environment: string;
  requirements: string;
  signal: AbortSignal | undefined;
}): Promise<void> {
  await mkdir(join(environment, '..'), { recursive: true });
  const made = await mkdtemp(`${environment}-`);
  try {
    // Isolated from PYTHONPATH and the like; and a source distribution would run its code to be installed.
    const env = withoutSecrets(process.env);
    await run('python3', ['-I', '-m', 'venv', made], { env, signal });
    const quietly = ['--quiet', '--disable-pip-version-check'];
    const pinned = ['--only-binary', ':all:', '--require-hashes', '--requirement', requirements];
    const pip = ['-I', '-m', 'pip', 'install', ...quietly, ...pinned];
    await run(join(made, 'bin', 'python'), pip, { env, maxBuffer: 16_000_000, signal });
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    signal?.throwIfAborted();
    throw new PythonPackagesMissing(lastLineOf(error), error);
  }
  await writeFile(join(made, readyFile), '');
  // A link to what is gone, a cache that was cleaned by hand, would be in the way for ever.
  if (!existsSync(environment)) await rm(environment, { force: true });
  try {
    await symlink(made, environment);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    await rm(made, { recursive: true, force: true });
  }
}

/** pip and venv say what is wrong in their last line. */
function lastLineOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  return said.trim().split('\n').at(-1) ?? '';
}
