import { runDaybook } from '../support/daybook-process.ts';
import type { World } from './world.ts';

/**
 * Repeats a command line until it succeeds, as a person does after a failure, or until its stderr says that the work was already done.
 * Returns its output.
 */
export async function retryUntilDone(
  {
    env,
    cwd,
    errorOutputs,
    commitKiller,
    program,
  }: Pick<World, 'env' | 'cwd' | 'errorOutputs'> & Partial<Pick<World, 'commitKiller' | 'program'>>,
  args: readonly string[],
  { input, done, code = 0, env: more }: RetryOptions = {},
): Promise<string> {
  for (let left = 20; ; left--) {
    await commitKiller?.recovered();
    const ended = await runDaybook(args, {
      cwd,
      env: { ...env, ...more },
      ...(input === undefined ? {} : { input }),
      ...(program === undefined ? {} : { program }),
    });
    errorOutputs.push(ended.stderr);
    if (ended.code === code || done?.test(ended.stderr) === true) return ended.stdout;
    if (left === 0) {
      const { stdout, stderr } = ended;
      throw new Error(
        `daybook ${args.join(' ')} ends with ${String(ended.code)} every time: ${stdout}${stderr}`,
      );
    }
  }
}

interface RetryOptions {
  readonly input?: string;
  /** Matches its stderr if the work was done before. */
  readonly done?: RegExp;
  /** The exit code of success. */
  readonly code?: number;
  readonly env?: Readonly<Record<string, string>>;
}
