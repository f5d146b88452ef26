import { exitCodes, type ExitCode } from './exit-codes.ts';
import { createProgram } from './program.ts';

/** Runs one command line and returns the exit code that the command set. Rethrows the command's errors: see `exitCodeOf`. */
export async function runProgram(args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = createProgram((code) => {
    exitCode = code;
  });
  const isQuery = args.find((arg) => !arg.startsWith('-')) === 'sql';
  await program.parseAsync(isQuery ? args.map(unlessComment) : [...args], { from: 'user' });
  return exitCode;
}

/** Protects a query that begins with a comment (`sql "$(cat query.sql)"`) from being parsed as an option. */
function unlessComment(arg: string): string {
  return /^--(\s|.*\n)/.test(arg) ? `\n${arg}` : arg;
}
