import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { CommanderError } from 'commander';
import { exitCodeOf } from '../../cli/exit-code-of.ts';
import type { ExitCode } from '../../cli/exit-codes.ts';
import { explain } from '../../cli/explain.ts';
import { printAside } from '../../cli/printer.ts';
import { runProgram } from '../../cli/run-program.ts';
import { withoutCoreDumps } from '../../cli/without-core-dumps.ts';
import type { CommandLine } from './command-host.ts';

/** Runs each line of standard input, a command line in JSON, as `cli/main.ts` would: one after the other, in one process. */
process.umask(0o077);
withoutCoreDumps();
const asked = createInterface({ input: process.stdin });
const answer = process.stdout.write.bind(process.stdout);
let said = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const)
  process[name].write = (chunk: string | Uint8Array): boolean => {
    said[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  };
for await (const line of asked) {
  const { args, env, input = '' } = JSON.parse(line) as CommandLine;
  said = { stdout: '', stderr: '' };
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true });
  const code = await run(args);
  answer(`${JSON.stringify({ code, ...said })}\n`);
}
process.exit();

async function run(args: readonly string[]): Promise<ExitCode> {
  try {
    return await runProgram(args);
  } catch (error) {
    if (!(error instanceof CommanderError))
      printAside(explain(error, { verbose: args.includes('--verbose') }));
    return exitCodeOf(error);
  }
}
