import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `bin/daybook.js` of the checkout, which runs the TypeScript sources. */
export const programOfSources: string = fileURLToPath(new URL('../../bin/daybook.js', import.meta.url));

/** `daybook` of the built product if the test run made one (it starts in a fifth of the time), else of the sources. */
export const builtProgram: string = process.env.TEST_DAYBOOK ?? programOfSources;

/** The arguments with which Node starts a program of the product or of its tests: the built one, if the test run made one. */
export function testProgram(source: string): string[] {
  const { TEST_DAYBOOK: daybook } = process.env;
  if (daybook === undefined)
    return [
      '--import',
      import.meta.resolve('tsx'),
      fileURLToPath(new URL(`../../${source}`, import.meta.url)),
    ];
  return [join(daybook, '../../dist', source.replace(/\.ts$/, '.js'))];
}

export interface DaybookOptions {
  readonly env: Readonly<Record<string, string>>;
  /** The folder it runs in: a `.env` file there counts. */
  readonly cwd: string;
  readonly input?: string;
  /** Another `bin/daybook.js`. Default: `builtProgram`. */
  readonly program?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a `daybook` command line to its end. */
export async function runDaybook(args: readonly string[], options: DaybookOptions): Promise<Ended> {
  return startDaybook(args, options).ended;
}

/** Starts a `daybook` command line that runs until it is stopped. */
export function startDaybook(
  args: readonly string[],
  { env, cwd, input, program = builtProgram }: DaybookOptions,
): DaybookProcess {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...inherited(), ...env } });
  // Leaves no process behind after a failed test or a hung command.
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  child.stdin.end(input);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      child.emit('said');
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...output }));
  return {
    pid: child.pid ?? 0,
    ended,
    output: () => output.stdout + output.stderr,
    async waitForOutput(pattern) {
      while (!pattern.test(output.stdout + output.stderr)) {
        const over = await Promise.race([once(child, 'said').then(() => undefined), ended]);
        if (over !== undefined && !pattern.test(over.stdout + over.stderr))
          throw new Error(`daybook ${args.join(' ')} ended with ${String(over.code)}: ${over.stderr}`);
      }
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

export interface DaybookProcess {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Everything that it has printed so far. */
  readonly output: () => string;
  /** Resolves once the output matches; rejects if the process ends without a match. */
  readonly waitForOutput: (pattern: RegExp) => Promise<void>;
  readonly stop: (signal?: NodeJS.Signals) => Promise<Ended>;
}

/** The environment variables that the machine needs, without those that configure Daybook or Temporal. */
export function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        name === 'DAYBOOK_TEMPORAL_CLI' || !/^(DAYBOOK_|TEMPORAL_|DATABASE_URL$|VITEST|NODE_ENV$)/.test(name),
    ),
  );
}
