import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { runDaybook, startDaybook, type DaybookProcess, type Ended } from '../support/daybook-process.ts';
import { testApiAddress, testKey } from '../support/test-connection.ts';

export interface BuildEnvironment {
  /** `DAYBOOK_HOME`, which contains the seeds. */
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly build: (
    target: 'postgres' | 'lake' | 'spark',
    env?: Readonly<Record<string, string>>,
  ) => Promise<Ended>;
  readonly startBuild: (target: 'postgres' | 'lake' | 'spark') => DaybookProcess;
}

/** Runs `daybook dbt build` on a database with connections of tests. Needs no worker, sandbox or Temporal. */
export async function buildEnvironment(input: {
  databaseUrl: string;
  lake: string;
  env?: Readonly<Record<string, string>>;
}): Promise<BuildEnvironment> {
  const cwd = await mkdtemp(join(tmpdir(), 'daybook-test-build-'));
  afterAll(() => rm(cwd, { recursive: true, force: true }));
  const env = {
    DATABASE_URL: input.databaseUrl,
    DAYBOOK_API_URL: testApiAddress,
    DAYBOOK_CLIENT_ID: 'client',
    DAYBOOK_CLIENT_SECRET: 'planted-client-secret',
    DAYBOOK_SECRET_KEY: testKey.toString('base64'),
    DAYBOOK_HOME: join(cwd, 'home'),
    DAYBOOK_LAKE: input.lake,
    ...input.env,
  };
  const args = (target: string): string[] => ['dbt', 'build', '--target', target];
  return {
    home: env.DAYBOOK_HOME,
    env,
    build: (target, more) => runDaybook(args(target), { cwd, env: { ...env, ...more } }),
    startBuild: (target) => startDaybook(args(target), { cwd, env }),
  };
}
