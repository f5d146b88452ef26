import { exitCodes, type ExitCode } from './exit-codes.ts';
import { createProgram } from './program.ts';

/** Runs one command line, and returns the exit code that the command set. Throws what it throws: see `exitCodeOf`. */
export async function runProgram(args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = createProgram((code) => {
    exitCode = code;
  });
  await program.parseAsync([...args], { from: 'user' });
  return exitCode;
}
