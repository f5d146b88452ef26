import { runDaybook } from '../support/daybook-process.ts';
import type { World } from './world.ts';

/**
 * Repeats a command line until it succeeds, as a person does after a failure, or until its answer says that the work was already done.
 * Returns its output.
 */
export async function typeUntilDone(
  {
    env,
    cwd,
    heard,
    executioner,
    program,
  }: Pick<World, 'env' | 'cwd' | 'heard'> & Partial<Pick<World, 'executioner' | 'program'>>,
  args: readonly string[],
  { input, done, code = 0, env: more }: Typed = {},
): Promise<string> {
  for (let left = 20; ; left--) {
    await executioner?.recovered();
    const ended = await runDaybook(args, {
      cwd,
      env: { ...env, ...more },
      ...(input === undefined ? {} : { input }),
      ...(program === undefined ? {} : { program }),
    });
    heard.push(ended.stderr);
    if (ended.code === code || done?.test(ended.stderr) === true) return ended.stdout;
    if (left === 0) {
      const { stdout, stderr } = ended;
      throw new Error(
        `daybook ${args.join(' ')} ends with ${String(ended.code)} every time: ${stdout}${stderr}`,
      );
    }
  }
}

interface Typed {
  readonly input?: string;
  /** Matches its answer if the work was done before. */
  readonly done?: RegExp;
  /** The exit code of success. */
  readonly code?: number;
  readonly env?: Readonly<Record<string, string>>;
}
