import { Command } from 'commander';
import type { Erased } from '../../operations/erase-everywhere.ts';
import { resourceNamed } from '../../resources/index.ts';
import { UsageError } from '../errors.ts';
import { exitCodes, type SetExitCode } from '../exit-codes.ts';
import { print, printAside, printJson, printTable, shown } from '../printer.ts';
import { withWarehouse } from '../with-warehouse.ts';

export function eraseCommand(setExitCode: SetExitCode): Command {
  return new Command('erase')
    .description(
      'Remove the content of one record everywhere: tables, history, quarantine, snapshots, marts. Refused while the source returns it.',
    )
    .argument('<name>', 'the connection')
    .argument('<resource>', 'bills, expenses, …')
    .argument('<id>', 'ID of the record')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  $ npx daybook erase acme-us customers 018cef06-9f09-725a-952f-f205cc26b8bb',
    )
    .action(async (name: string, resourceName: string, id: string, { json }: { json?: true }) => {
      const resource = resourceNamed(resourceName);
      // The shell variable is probably not set: no record has an empty ID.
      if (id === '') throw new UsageError('The ID of the record is empty.');
      const { eraseEverywhere } = await import('../../operations/erase-everywhere.ts');
      const erased = await withWarehouse(
        (warehouse, settings) =>
          eraseEverywhere({ settings, warehouse }, { connectionId: name, resource, id }, printAside),
        ['database', 'api'],
      );
      if (json === true) printJson(erased);
      else show({ name, resourceName, id }, erased);
      if (erased.kept.length > 0) setExitCode(exitCodes.failed);
    });
}

function show(
  { name, resourceName, id }: { name: string; resourceName: string; id: string },
  { held, left, snapshots, marts, hosts, kept }: Erased,
): void {
  printTable(
    ['place', 'rows before', 'rows now'],
    [
      ...Object.entries(held).map(([table, rows]) => [table, rows, left[table] ?? 0]),
      ...snapshots.map(({ from, to, rows, isKept }) => [
        `snapshot ${from}, now ${to}`,
        rows,
        isKept ? rows : 0,
      ]),
    ],
  );
  if (marts.length > 0) print(`\nThe marts were rebuilt (${marts.join(', ')}).`);
  if (hosts.length > 0) {
    print(
      '\nOther hosts may keep files of exports and builds. A worker running there removes them within 10 s; otherwise the next one that starts there does:',
    );
    for (const host of hosts.slice(0, mostHosts)) print(`  ${host.name}, last seen ${shown(host.seen_at)}`);
    if (hosts.length > mostHosts)
      print(`  and ${(hosts.length - mostHosts).toLocaleString('en-US')} more: select * from sync.hosts`);
  }
  if (kept.length > 0) {
    print(
      `\nSome of ${resourceName} ${id} of ${name} may remain. Fix the following, then run the same command again:`,
    );
    for (const problem of kept) print(`  ${problem}`);
    return;
  }
  if (snapshots.length === 0 && Object.values(held).every((rows) => rows === 0)) {
    print(
      `\nDaybook held nothing about ${resourceName} ${id} of ${name}. Unless you erased it before, check the ID. A deletion was ` +
        'recorded anyway, in case a page in flight still shows it.',
    );
    return;
  }
  print(
    `\nErased ${resourceName} ${id} of ${name}. The fact that it was deleted is kept. Backups, copied files, and mentions in ` +
      'other records are not affected.',
  );
}

/** Containers count as hosts too. */
const mostHosts = 20;
