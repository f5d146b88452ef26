import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import { inherited, testProgram, type Ended } from './daybook-process.ts';

export interface CommandLine {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input?: string | undefined;
}

/** A process that runs command lines of `daybook` one after the other, because most of the cost of a command is its start. */
export interface CommandHost {
  /** Whether a command line is under way. */
  readonly isBusy: () => boolean;
  readonly run: (line: CommandLine) => Promise<Ended>;
}

/** Called at the top of a test file. The process starts with the first command line and runs until the last test. */
export function commandHost({ cwd }: { cwd: string }): CommandHost {
  let started: Started | undefined;
  let isBusy = false;
  afterAll(() => started?.kill());
  return {
    isBusy: () => isBusy,
    async run(line) {
      isBusy = true;
      try {
        started ??= startIn(cwd);
        return await started.ask(line);
      } finally {
        isBusy = false;
      }
    },
  };
}

interface Started {
  readonly ask: (line: CommandLine) => Promise<Ended>;
  readonly kill: () => void;
}

function startIn(cwd: string): Started {
  const child = spawn(process.execPath, testProgram('test/support/commands-main.ts'), {
    cwd,
    env: inherited(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    kill,
    async ask({ args, env, input }) {
      child.stdin.write(`${JSON.stringify({ args, env: { ...inherited(), ...env }, input })}\n`);
      const line = await lines.next();
      if (line.done === true)
        throw new Error(`The process of commands ended with daybook ${args.join(' ')}.`);
      return JSON.parse(line.value) as Ended;
    },
  };
}
