import { CommanderError } from 'commander';
import { exitCodeOf } from './exit-code-of.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { explain } from './explain.ts';
import { printAside } from './printer.ts';
import { runProgram } from './run-program.ts';
import { unlessTerminalIsGone } from './unless-terminal-is-gone.ts';
import { withoutCoreDumps } from './without-core-dumps.ts';

// Financial records are private: every file, including those of dbt and DuckDB, is readable by its owner alone.
process.umask(0o077);

withoutCoreDumps();
process.exitCode = await run(process.argv.slice(2));

/** Runs one command line. A pipe that is closed early (`daybook runs | head`) ends it without an error. */
async function run(args: readonly string[]): Promise<ExitCode> {
  const unlessGone = unlessTerminalIsGone(process.stdout);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.done);
    unlessGone(error);
  });
  process.stderr.on('error', unlessTerminalIsGone(process.stderr));
  try {
    return await runProgram(args);
  } catch (error) {
    // Commander has already printed its message.
    if (error instanceof CommanderError) return exitCodeOf(error);
    printAside(explain(error, { verbose: args.includes('--verbose') }));
    // Open resources, mainly Temporal's runtime, would otherwise keep the process alive forever.
    process.exit(exitCodeOf(error));
  }
}
