import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from '../errors/code-of.ts';
import { requireOwnCache } from '../scripts/own-cache.mjs';
import { withoutSecrets } from '../scripts/without-secrets.mjs';
import { PythonMissing, PythonPackagesMissing, type NeedOfPython } from './errors.ts';

const run = promisify(execFile);

/** The requirements of a Python program. */
export interface PythonNeeds {
  /** The name of its environment, and of the installed packages in messages. */
  readonly name: string;
  /** A file that pins every package by its hash. */
  readonly requirements: string;
  /** Packages without a wheel, and the requirements for building them, pinned by hash as well. */
  readonly sources?: { readonly packages: readonly string[]; readonly requirements: string };
  /** Who needs it, and the command to rerun. */
  readonly for: NeedOfPython;
}

/** The folder of the environments, and the receiver of progress messages. */
export interface PythonPlaces {
  readonly cacheFolder: string;
  readonly onStep: (text: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the Python with these packages: created on first use (a minute, mostly downloads), then found by the hash of its requirements. Safe if
 * two processes run it at once. Throws PythonMissing, PythonPackagesMissing, ForeignFolder.
 */
export async function pythonWith(needs: PythonNeeds, input: PythonPlaces): Promise<string> {
  const { name, requirements } = needs;
  const version = await pythonVersion(needs.for);
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .update(version)
    .digest('hex');
  const folder = `${name}-${hash.slice(0, 16)}`;
  const environment = join(input.cacheFolder, folder);
  await mkdir(input.cacheFolder, { recursive: true, mode: 0o700 });
  await requireOwnCache(input.cacheFolder, [folder]);
  if (!existsSync(join(environment, readyFile))) {
    const started = performance.now();
    input.onStep(`${name} is being installed for Python ${version}, once`);
    await install({ ...needs, environment, signal: input.signal });
    input.onStep(`${name} installed in ${Math.round((performance.now() - started) / 1000)} s`);
  }
  return join(environment, 'bin', 'python');
}

/** Throws PythonMissing. */
export async function pythonVersion(need: NeedOfPython): Promise<string> {
  // Isolated, because otherwise a platform.py of the working folder would run; and without secrets, whatever python3 may be.
  const version = await run('python3', ['-I', '-c', 'import platform; print(platform.python_version())'], {
    env: withoutSecrets(process.env),
  }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  if (version === undefined || major !== 3 || minor < 10) throw new PythonMissing(version, need);
  return version;
}

/** Written last: an environment without it was left by a killed process. */
const readyFile = '.ready';

/**
 * A virtual environment contains its own path, so it cannot be moved. Each process creates its own, and a link of the common name is created
 * atomically; the second process removes its own environment.
 */
async function install({
  name,
  environment,
  requirements,
  sources,
  signal,
}: PythonNeeds & { environment: string; signal: AbortSignal | undefined }): Promise<void> {
  const made = await mkdtemp(`${environment}-`);
  try {
    // Isolated from PYTHONPATH and the like. Installing a source distribution runs its code, so those that may are named.
    const env = withoutSecrets(process.env);
    await run('python3', ['-I', '-m', 'venv', made], { env, signal });
    const quietly = ['--quiet', '--disable-pip-version-check'];
    const pip = async (file: string, ...more: readonly string[]): Promise<void> => {
      const pinned = ['--only-binary', ':all:', ...more, '--require-hashes', '--requirement', file];
      const args = ['-I', '-m', 'pip', 'install', ...quietly, ...pinned];
      await run(join(made, 'bin', 'python'), args, { env, maxBuffer: 16_000_000, signal });
    };
    if (sources === undefined) await pip(requirements);
    else {
      await pip(sources.requirements);
      // Without build isolation: pip would otherwise fetch the build requirements by name alone.
      await pip(requirements, '--no-binary', sources.packages.join(','), '--no-build-isolation');
    }
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    signal?.throwIfAborted();
    throw new PythonPackagesMissing(name, lastLineOf(error), error);
  }
  await writeFile(join(made, readyFile), '');
  // A dangling link, after a cache was cleaned by hand, would be in the way forever.
  if (!existsSync(environment)) await rm(environment, { force: true });
  try {
    await symlink(made, environment);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    await rm(made, { recursive: true, force: true });
  }
}

/** pip and venv report the error in their last line. */
function lastLineOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  return said.trim().split('\n').at(-1) ?? '';
}
