import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The first failure: the file of the check, and the test. Undefined if nothing failed. */
export interface Caught {
  readonly check: string;
  readonly test: string;
}

/**
 * Runs checks against a copy of the sources, one after the other, until one fails or the time is up: a mistake may make Daybook wait or
 * loop forever.
 */
export async function checkCopy(
  folder: string,
  input: {
    url: string;
    adminUrl: string;
    checks: readonly string[];
    historiesSeconds: number;
    milliseconds: number;
  },
): Promise<Caught | undefined> {
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  const child = spawn(
    process.execPath,
    [
      ...[vitest, 'run', '--root', folder, '--config', 'test/mutation/vitest.config.ts'],
      ...['--reporter=json', '--outputFile', report],
    ],
    {
      cwd: folder,
      // A process group of its own, so that its processes end with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        MUTATION_POSTGRES_URL: input.url,
        MUTATION_POSTGRES_ADMIN_URL: input.adminUrl,
        MUTATION_CHECKS: input.checks.join(','),
        MUTATION_HISTORIES_SECONDS: String(input.historiesSeconds),
      },
    },
  );
  const late = { now: false };
  const timer = setTimeout(() => {
    late.now = true;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, input.milliseconds);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  clearTimeout(timer);
  if (late.now) return { check: '', test: 'The checks did not come to an end.' };
  if (code === 0) return undefined;
  return (await firstFailure(folder, report)) ?? { check: '', test: (errors || output).trim().slice(-300) };
}

const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

async function firstFailure(folder: string, report: string): Promise<Caught | undefined> {
  let written: string;
  try {
    written = await readFile(report, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const { testResults } = JSON.parse(written) as Report;
  for (const { name, status, message, assertionResults } of testResults) {
    if (status !== 'failed') continue;
    const failed = assertionResults.find((one) => one.status === 'failed');
    return { check: name.slice(folder.length + 1), test: failed?.fullName ?? message.slice(0, 300) };
  }
  return undefined;
}
