import { Command } from 'commander';
import { readRuns, type RunRead } from '../../warehouse/runs/read-run.ts';
import { requireKnown } from '../../warehouse/connections/require-known.ts';
import { limitOption } from '../options.ts';
import { print, printJson, printTable } from '../printer.ts';
import { withWarehouse } from '../with-warehouse.ts';

export function runsCommand(): Command {
  return new Command('runs')
    .description('Show the latest runs and what they did.')
    .argument('[name]', 'only this connection')
    .option('--limit <n>', 'show at most this many', limitOption, 20)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook runs acme-us --limit 5')
    .action(async (name: string | undefined, { limit, json }: { limit: number; json?: true }) => {
      const runs = await withWarehouse(async (warehouse) => {
        if (name !== undefined) await requireKnown(warehouse, name);
        return readRuns(warehouse, { connectionId: name, totals: json === true, limit });
      });
      if (json === true) printJson(runs);
      else if (runs.length === 0) print('There are no runs yet.');
      else show(runs);
    });
}

function show(runs: readonly RunRead[]): void {
  printTable(
    [
      'started',
      'connection',
      'kind',
      'status',
      'seconds',
      'requests',
      'read',
      'new',
      'changed',
      'known',
      'deleted',
      'quarantined',
    ],
    runs.map((run) => [
      run.started_at,
      run.connection_id,
      run.target === null ? run.kind : `${run.kind} (${run.target})`,
      run.status,
      run.finished_at === null
        ? null
        : Math.round((run.finished_at.getTime() - run.started_at.getTime()) / 1000),
      ...(['requests', 'read', 'inserted', 'updated', 'unchanged', 'deleted', 'quarantined'] as const).map(
        (count) => run.streams.reduce((sum, stream) => sum + stream[count], 0),
      ),
    ]),
  );
  const [newest] = runs;
  const words = newest?.failure ?? newest?.outcome;
  if (typeof words === 'string') print(`\nThe newest run: ${words}`);
}
