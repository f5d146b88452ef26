import { CommanderError } from 'commander';
import { exitCodeOf } from './exit-code-of.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { explain } from './explain.ts';
import { printAside } from './printer.ts';
import { runProgram } from './run-program.ts';
import { unlessTerminalIsGone } from './unless-terminal-is-gone.ts';
import { withoutCoreDumps } from './without-core-dumps.ts';

// Books are for who runs this: every file that is made, by dbt and DuckDB too, is its owner's alone.
process.umask(0o077);

withoutCoreDumps();
process.exitCode = await run(process.argv.slice(2));

/** Runs one command line. A pipe that is closed early (`daybook runs | head`) ends it quietly. */
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
    // Commander has printed its sentence already.
    if (error instanceof CommanderError) return exitCodeOf(error);
    printAside(explain(error, { verbose: args.includes('--verbose') }));
    // What the command had opened until then, Temporal's runtime above all, would keep the process for ever.
    process.exit(exitCodeOf(error));
  }
}
