import { Command } from 'commander';
import { measureExport } from './export.ts';
import { measureExportChanged } from './export-changed.ts';
import { measureFleet } from './fleet.ts';
import { measureGroups } from './groups.ts';
import { measureGrowth } from './growth.ts';
import { measureHeldSnapshot } from './held-snapshot.ts';
import { measureIdle } from './idle.ts';
import { measureIncremental } from './incremental.ts';
import { measureInitial } from './initial.ts';
import { measureMarts } from './marts.ts';
import { formatTable } from '../cli/printer.ts';
import type { Measured } from './measured.ts';
import { measurePeers } from './peers.ts';
import { measureReconcile } from './reconcile.ts';
import { measureWebhooks } from './webhooks.ts';

const program = new Command('bench').description(
  'Measures Daybook on this machine. Ratios count; absolute figures are the machine.',
);

program
  .command('initial')
  .description('Loads bills end to end, without Temporal, and by bare COPY, side by side.')
  .option('--bills <n>', 'bills to load, a multiple of 500', Number, 100_000)
  .option('--repeat <n>', 'repetitions; medians are shown', Number, 3)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- initial --bills 20000 --repeat 1')
  .action(async (options: { bills: number; repeat: number; json?: true }) => {
    show(await measureInitial(options, progress), options.json);
  });

program
  .command('growth')
  .description(
    'Loads many bills in one go: is a page as fast, and the worker as small, at the end as at the beginning?',
  )
  .option('--bills <n>', 'bills to load, a multiple of 500', Number, 1_000_000)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- growth --bills 200000')
  .action(async (options: { bills: number; json?: true }) => {
    show(await measureGrowth(options, progress), options.json);
  });

program
  .command('incremental')
  .description(
    'Syncs 1,000 changed bills where 10,000 are stored, and where many are: does the sync take as long?',
  )
  .option('--bills <n>', 'bills to load, a multiple of 500', Number, 1_000_000)
  .option('--repeat <n>', 'repetitions; medians are shown', Number, 9)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- incremental --bills 50000')
  .action(async (options: { bills: number; repeat: number; json?: true }) => {
    show(await measureIncremental(options, progress), options.json);
  });

program
  .command('reconcile')
  .description('Loads bills and reconciles them unchanged: how fast beside the load, in how much memory?')
  .option('--bills <n>', 'bills to load, a multiple of 500', Number, 1_000_000)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- reconcile --bills 50000')
  .action(async (options: { bills: number; json?: true }) => {
    show(await measureReconcile(options, progress), options.json);
  });

program
  .command('idle')
  .description('Counts what a scheduled sync costs when nothing has changed, against the sandbox.')
  .option('--records <n>', 'records of the sandbox connection', Number, 2_000)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- idle')
  .action(async (options: { records: number; json?: true }) => {
    show(await measureIdle(options, progress), options.json);
  });

program
  .command('export')
  .description(
    'Exports bills and their lines as a snapshot, and reads the same tables by bare COPY, side by side.',
  )
  .option('--rows <n>', 'rows to export', Number, 5_000_000)
  .option('--repeat <n>', 'repetitions; medians are shown', Number, 3)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- export --rows 300000')
  .action(async (options: { rows: number; repeat: number; json?: true }) => {
    show(await measureExport(options, progress), options.json);
  });

program
  .command('export-changed')
  .description(
    'Exports bills and their lines, again when 1 % of the connections changed (of fewer than 100: three bills of one), and again when nothing did.',
  )
  .option('--rows <n>', 'rows to export', Number, 10_000_000)
  .option('--connections <n>', 'connections that have them', Number, 10_000)
  .option('--repeat <n>', 'repetitions; medians are shown', Number, 3)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- export-changed --rows 300000 --connections 1000')
  .action(async (options: { rows: number; connections: number; repeat: number; json?: true }) => {
    show(await measureExportChanged(options, progress), options.json);
  });

program
  .command('marts')
  .description('Builds and tests the marts of many bills in Postgres and on a snapshot, side by side.')
  .option('--bills <n>', 'bills to build on, with what belongs to them', Number, 100_000)
  .option('--spark', 'with Spark on this machine too: it needs Java')
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- marts --bills 10000')
  .action(async ({ bills, spark = false, json }: { bills: number; spark?: boolean; json?: true }) => {
    show(await measureMarts({ bills, spark }, progress), json);
  });

program
  .command('groups')
  .description(
    'Builds the marts of books in which many records belong to one group: bills of one number, lines of one bill.',
  )
  .option('--records <n>', 'records of each group', Number, 20_000)
  .option('--shape <names...>', 'of these groups only')
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- groups --records 5000')
  .action(async (options: { records: number; shape?: string[]; json?: true }) => {
    const { records, shape: shapes } = options;
    show(await measureGroups({ records, ...(shapes !== undefined && { shapes }) }, progress), options.json);
  });

program
  .command('webhooks')
  .description(
    'Sends 200 webhooks a second to a server that is killed in the middle, and times a change on its way to finance.',
  )
  .option('--seconds <n>', 'how long they are sent', Number, 60)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- webhooks --seconds 10')
  .action(async (options: { seconds: number; json?: true }) => {
    show(await measureWebhooks(options, progress), options.json);
  });

program
  .command('held-snapshot')
  .description('Takes from the API budget while a reader holds a snapshot: does that make syncs slower?')
  .option('--takes <n>', 'requests that are taken', Number, 100_000)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- held-snapshot --takes 10000')
  .action(async (options: { takes: number; json?: true }) => {
    show(await measureHeldSnapshot(options, progress), options.json);
  });

program
  .command('fleet')
  .description(
    'Asks what people and workers ask of many connections: status, pages, metrics, alerts, schedule repair.',
  )
  .option('--connections <n>', 'connections', Number, 10_000)
  .option('--days <n>', 'days of syncs in the ledger, as DAYBOOK_KEEP_QUIET_RUNS=2d leaves them', Number, 10)
  .option('--repeat <n>', 'repetitions of each question', Number, 20)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- fleet --connections 2000')
  .action(async (options: { connections: number; days: number; repeat: number; json?: true }) => {
    show(await measureFleet(options, progress), options.json);
  });

program
  .command('peers')
  .description('Loads the same pages with Daybook, dlt and a Singer target into one Postgres, side by side.')
  .option('--bills <n>', 'bills of a company, a multiple of 500', Number, 100_000)
  .option('--repeat <n>', 'repetitions; medians are shown', Number, 3)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExample:\n  $ npm run bench -- peers --bills 20000 --repeat 1')
  .action(async (options: { bills: number; repeat: number; json?: true }) => {
    show(await measurePeers(options, progress), options.json);
  });

await program.parseAsync();

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function show(measured: readonly Measured[], json: true | undefined): void {
  const text =
    json === true
      ? JSON.stringify(measured, null, 2)
      : formatTable(
          ['measured', 'seen', 'target'],
          measured.map(({ what, seen, target }) => [what, seen, target ?? '']),
        );
  process.stdout.write(`${text}\n`);
}
