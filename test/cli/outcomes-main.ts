import { text } from 'node:stream/consumers';
import { CommanderError } from 'commander';
import { exitCodeOf } from '../../cli/exit-code-of.ts';
import { explain } from '../../cli/explain.ts';
import type { ExitCode } from '../../cli/exit-codes.ts';
import { runProgram } from '../../cli/run-program.ts';

/**
 * Runs the command lines on standard input, a JSON list, one after another as `daybook` would, but in one process, because most of the cost
 * of a command is its start. Prints the outcome of each as a line of JSON.
 */
const lines = JSON.parse(await text(process.stdin)) as string[][];
const print = process.stdout.write.bind(process.stdout);
let said = '';
for (const stream of [process.stdout, process.stderr])
  stream.write = (chunk: string | Uint8Array): boolean => {
    said += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  };
for (const line of lines) {
  said = '';
  const from = performance.now();
  const exitCode = await run(line);
  print(`${JSON.stringify({ line, exitCode, said, seconds: (performance.now() - from) / 1_000 })}\n`);
}
process.exit();

async function run(line: readonly string[]): Promise<ExitCode> {
  try {
    return await runProgram(line);
  } catch (error) {
    if (!(error instanceof CommanderError)) said += explain(error, { verbose: false });
    return exitCodeOf(error);
  }
}
