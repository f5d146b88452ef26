import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { withoutSecrets } from '../scripts/without-secrets.mjs';
import type { BuildSettings } from './build-settings.ts';
import { dbtProject } from './dbt-project.ts';
import { readDbtLine } from './dbt-line.ts';
import { MartsFailed, type FailedNode } from './errors.ts';
import { prepareProject } from './prepare-project.ts';

/** One build with dbt. All output of dbt is in `folder`; nothing is written into the project. */
export interface DbtBuild extends Pick<BuildSettings, 'environment' | 'onLine' | 'onNode' | 'signal'> {
  readonly python: string;
  readonly folder: string;
  /** The user's own seeds. */
  readonly seedsFolder: string;
  /** The output in dbt's profiles.yml, without a password, which is in `secrets`. */
  readonly output: Readonly<Record<string, unknown>>;
  readonly vars: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Variables that tell libpq how to log in. */
  readonly login: Readonly<Record<string, string>>;
  readonly connections: number;
  /** The transaction that holds the build's lock, without which dbt writes nothing into Postgres (`dbt/macros/engine/require_build_lock.sql`). */
  readonly buildLock?: string;
  /** The program in which dbt runs, if it runs inside one that has its own messages and input. */
  readonly within?: ProgramAroundDbt;
}

export interface ProgramAroundDbt {
  /** A file in the project. */
  readonly program: string;
  /** Handles a line; returns whether nobody else should. */
  readonly onSaid: (line: string, tell: (what: unknown) => void) => boolean;
}

export interface DbtResult {
  readonly models: number;
  readonly tests: number;
  readonly warnings: number;
}

/** Builds and tests every model. Throws MartsFailed with the names of failed nodes, or the reason of the signal. */
export async function runDbt(build: DbtBuild): Promise<DbtResult> {
  const { folder, seedsFolder } = build;
  const project = join(folder, 'project');
  // dbt parses everything again if a variable differs, a quarter of a build: builds on Postgres alternate between two schemas.
  const target = join(folder, 'target', build.vars.daybook_marts_schema ?? '');
  const results = join(target, 'run_results.json');
  await mkdir(target, { recursive: true, mode: 0o700 });
  await rm(results, { force: true });
  await prepareProject({ seedsFolder, project });
  await writeFile(join(folder, 'profiles.yml'), profile(build));
  const code = await dbt(build, [
    'build',
    '--project-dir',
    project,
    '--profiles-dir',
    folder,
    '--target-path',
    target,
    '--log-path',
    join(folder, 'logs'),
    // Logging every statement would take 5 MB per build; the SQL is in target/.
    '--log-level',
    'none',
    '--log-level-file',
    'info',
    '--no-use-colors',
    '--vars',
    JSON.stringify(build.vars),
  ]);
  build.signal?.throwIfAborted();
  const outcomes = existsSync(results)
    ? resultsSchema.parse(JSON.parse(await readFile(results, 'utf8'))).results
    : [];
  const failed = outcomes.filter(({ status }) => ['error', 'fail', 'runtime error'].includes(status));
  if (code !== 0) throw new MartsFailed(failed.map(asFailed), join(folder, 'logs', 'dbt.log'));
  const ofKind = (kind: string): number =>
    outcomes.filter((one) => one.unique_id.startsWith(`${kind}.`)).length;
  return {
    models: ofKind('model'),
    tests: ofKind('test'),
    warnings: outcomes.filter(({ status }) => status === 'warn').length,
  };
}

/** JSON is YAML too. */
function profile({ output, connections }: DbtBuild): string {
  const threads = Math.max(1, Math.min(availableParallelism(), connections));
  return JSON.stringify(
    { daybook: { target: 'build', outputs: { build: { ...output, threads } } } },
    null,
    2,
  );
}

async function dbt(build: DbtBuild, args: readonly string[]): Promise<number | null> {
  build.signal?.throwIfAborted();
  const { within } = build;
  const child = spawn(build.python, [join(dbtProject, within?.program ?? 'run_dbt.py'), ...args], {
    cwd: build.folder,
    // dbt ends when its standard input closes: with this process, however it ends.
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...withoutSecrets(build.environment),
      ...build.secrets,
      ...build.login,
      ...(build.buildLock !== undefined && { DAYBOOK_BUILD_LOCK: build.buildLock }),
      DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
  // It may end before it has read its input; its exit is handled below.
  child.stdin.on('error', () => undefined);
  const tell = (what: unknown): void => {
    child.stdin.write(`${JSON.stringify(what)}\n`);
  };
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => {
      if (within?.onSaid(line, tell) !== true) readDbtLine(line, build);
    });
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  build.signal?.addEventListener('abort', kill);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
  } finally {
    build.signal?.removeEventListener('abort', kill);
  }
}

function asFailed({ unique_id, message }: Outcome): FailedNode {
  return { name: unique_id.split('.')[2] ?? unique_id, message: message ?? '' };
}

const resultsSchema = z.object({
  results: z.array(z.object({ unique_id: z.string(), status: z.string(), message: z.string().nullish() })),
});

type Outcome = z.infer<typeof resultsSchema>['results'][number];
