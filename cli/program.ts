import { Command } from 'commander';
import { backfillCommand } from './commands/backfill.ts';
import { connectionCommand } from './commands/connection.ts';
import { dashboardCommand } from './commands/dashboard.ts';
import { dbtCommand } from './commands/dbt.ts';
import { discrepanciesCommand } from './commands/discrepancies.ts';
import { doctorCommand } from './commands/doctor.ts';
import { eraseCommand } from './commands/erase.ts';
import { exportCommand } from './commands/export.ts';
import { migrateCommand } from './commands/migrate.ts';
import { pruneCommand } from './commands/prune.ts';
import { psqlCommand } from './commands/psql.ts';
import { quarantineCommand } from './commands/quarantine.ts';
import { readerCommand } from './commands/reader.ts';
import { rebuildCommand } from './commands/rebuild.ts';
import { reconcileCommand } from './commands/reconcile.ts';
import { runsCommand } from './commands/runs.ts';
import { sandboxCommand } from './commands/sandbox.ts';
import { serveCommand } from './commands/serve.ts';
import { snapshotsCommand } from './commands/snapshots.ts';
import { sqlCommand } from './commands/sql.ts';
import { statusCommand } from './commands/status.ts';
import { syncCommand } from './commands/sync.ts';
import { tourCommand } from './commands/tour.ts';
import { upCommand } from './commands/up.ts';
import { urlCommand } from './commands/url.ts';
import { workerCommand } from './commands/worker.ts';
import type { SetExitCode } from './exit-codes.ts';
import { productVersion } from './product-version.ts';
import { visible } from '../server/frame/visible.ts';

export function createProgram(setExitCode: SetExitCode): Command {
  const program = new Command('daybook')
    .description("Copies a company's accounting records into its own Postgres, exact and current.")
    .version(productVersion(), '--version', 'print the version')
    .option('--verbose', 'print the stack of an error')
    .addHelpText('after', '\nExample:\n  $ npx daybook up')
    .showHelpAfterError('(see --help)')
    .showSuggestionAfterError();
  const commands = [
    upCommand(),
    workerCommand(),
    serveCommand(),
    migrateCommand(),
    doctorCommand(setExitCode),
    connectionCommand(),
    syncCommand(setExitCode),
    backfillCommand(setExitCode),
    reconcileCommand(setExitCode),
    statusCommand(setExitCode),
    runsCommand(),
    discrepanciesCommand(),
    quarantineCommand(setExitCode),
    exportCommand(setExitCode),
    snapshotsCommand(setExitCode),
    rebuildCommand(),
    eraseCommand(setExitCode),
    pruneCommand(),
    dbtCommand(),
    dashboardCommand(),
    sqlCommand(),
    psqlCommand(setExitCode),
    urlCommand(),
    readerCommand(),
    sandboxCommand(),
  ];
  for (const command of commands) program.addCommand(command);
  program.addCommand(tourCommand(setExitCode), { hidden: true });
  return overrideAll(program);
}

/** Makes Commander throw instead of exiting on a wrong command line, so that main decides. Also escapes what it repeats of the command line. */
function overrideAll(command: Command): Command {
  command.exitOverride().configureOutput({
    writeErr: (text) => process.stderr.write(visible(text)),
    outputError: (text, write) => {
      write(withoutValue(text));
    },
  });
  command.commands.forEach(overrideAll);
  return command;
}

/** Cuts the value from an error about an unknown option (`--token=…`, `-t…`), since it may be a secret. */
function withoutValue(text: string): string {
  return text.replace(/^(error: unknown option ')(--[^=]*|-[^-])=?[\s\S]*'/, "$1$2'");
}
