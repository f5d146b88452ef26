import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, constants, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withoutSecrets } from '../../scripts/without-secrets.mjs';
import { cacheFolder } from './cache-folder.ts';

const run = promisify(execFile);

/** The release that is built, and the SHA-256 of its sources. A file with another hash is not compiled. */
const version = '1.24.1';
const sourcesHash = 'da72a3aba13072876d055a3e58dd4aba4a5de4ed6148e73033185245598fd3e0';
const sources = [
  `http://deb.debian.org/debian/pool/main/p/pgbouncer/pgbouncer_${version}.orig.tar.gz`,
  `https://www.pgbouncer.org/downloads/files/${version}/pgbouncer-${version}.tar.gz`,
];

/** The programs that compile PgBouncer, and the packages of Debian-like systems that contain them. */
const compilers = ['cc', 'make', 'pkg-config'];
const packages = ['gcc', 'libc6-dev', 'make', 'pkg-config', 'libevent-dev'];

/**
 * The path of a PgBouncer that supports prepared statements: TEST_PGBOUNCER, else our own copy, which is built once (half a minute) and
 * kept. As root on a Debian-like system it installs the compiler first. If no copy can be obtained, `lacks` says why.
 */
export async function pgBouncerProgram(): Promise<string | { readonly lacks: string }> {
  const chosen = process.env.TEST_PGBOUNCER;
  if (chosen !== undefined && chosen !== '') return chosen;
  const target = join(cacheFolder, `pgbouncer-${version}`, 'pgbouncer');
  if (await isExecutable(target)) return target;
  try {
    if ((await missingTools()).length > 0) await installTools();
    const missing = await missingTools();
    if (missing.length > 0)
      return { lacks: `no PgBouncer can be built without ${missing.join(', ')}; set TEST_PGBOUNCER to one` };
    await build(target);
    return target;
  } catch (error) {
    // A test must not fail because the machine cannot reach a package server.
    return { lacks: error instanceof Error ? error.message : String(error) };
  }
}

/** The PgBouncer of the system, if it is older than 1.21, the first version with prepared statements. */
export async function oldPgBouncer(): Promise<string | undefined> {
  for (const program of ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer']) {
    const said = await run(program, ['--version']).catch(() => undefined);
    if (/^PgBouncer 1\.(\d|1\d|20)\./.test(said?.stdout ?? '')) return program;
  }
  return undefined;
}

async function missingTools(): Promise<string[]> {
  const found = async (command: string, ...args: string[]): Promise<boolean> =>
    run(command, args).then(
      () => true,
      () => false,
    );
  const missing: string[] = [];
  for (const tool of compilers) if (!(await found(tool, '--version'))) missing.push(tool);
  if (!(await found('pkg-config', '--exists', 'libevent'))) missing.push('libevent');
  return missing;
}

/** Installs the compilers as root on a Debian-like system. Elsewhere does nothing, and the next check finds them missing. */
async function installTools(): Promise<void> {
  if (process.getuid?.() !== 0 || !(await isExecutable('/usr/bin/apt-get'))) return;
  const env = { ...withoutSecrets(process.env), DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', ['install', '-qq', '-y', '--no-install-recommends', ...packages], { env });
}

/** Builds PgBouncer. Two concurrent builds do no harm: the later rename wins with the same content. */
async function build(target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(join(dirname(target), 'unfinished-'));
  const options = { cwd: folder, env: withoutSecrets(process.env), maxBuffer: 1e8 };
  try {
    await writeFile(join(folder, 'sources.tar.gz'), await download());
    await run('tar', ['-xzf', 'sources.tar.gz', '--strip-components=1'], options);
    // Tests reach PgBouncer on loopback, so it needs no TLS nor any other library that would have to be installed.
    const without = ['openssl', 'cares', 'pam', 'systemd', 'ldap'].map((what) => `--without-${what}`);
    await run('./configure', ['--quiet', ...without], options);
    await run('make', [`-j${availableParallelism()}`, 'pgbouncer'], options);
    await rename(join(folder, 'pgbouncer'), target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function download(): Promise<Buffer> {
  const failures: string[] = [];
  for (const source of sources) {
    try {
      const response = await fetch(source, { signal: AbortSignal.timeout(60_000) });
      const content = Buffer.from(await response.arrayBuffer());
      if (createHash('sha256').update(content).digest('hex') === sourcesHash) return content;
      failures.push(`${source} is not the file that is pinned (it answers ${response.status}).`);
    } catch (error) {
      failures.push(`${source}: ${String(error)}.`);
    }
  }
  throw new Error(
    `The sources of PgBouncer ${version} cannot be downloaded. ${failures.join(' ')} Set TEST_PGBOUNCER.`,
  );
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
