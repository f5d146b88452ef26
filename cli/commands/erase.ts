import { Command } from 'commander';
import type { Erased } from '../../operations/erase-everywhere.ts';
import { resourceNamed } from '../../resources/index.ts';
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
    .argument('<id>', 'of the record')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  $ npx daybook erase acme-us customers 018cef06-9f09-725a-952f-f205cc26b8bb',
    )
    .action(async (name: string, resourceName: string, id: string, { json }: { json?: true }) => {
      const resource = resourceNamed(resourceName);
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
  if (marts.length > 0) print(`\nThe marts were built anew (${marts.join(', ')}).`);
  if (hosts.length > 0) {
    print(
      '\nOther hosts may keep files of exports and builds. A worker that runs there clears them within 10 s; else the next one that starts there:',
    );
    for (const host of hosts.slice(0, mostHosts)) print(`  ${host.name}, last seen ${shown(host.seen_at)}`);
    if (hosts.length > mostHosts)
      print(`  and ${(hosts.length - mostHosts).toLocaleString('en-US')} more: select * from sync.hosts`);
  }
  if (kept.length > 0) {
    print(
      `\nNot all of ${id} of ${resourceName} of ${name} may be gone. Run the same command again once this is mended:`,
    );
    for (const problem of kept) print(`  ${problem}`);
    return;
  }
  if (snapshots.length === 0 && Object.values(held).every((rows) => rows === 0)) {
    print(
      `\nNothing of ${id} of ${resourceName} of ${name} was held. If it was not erased before, check the ID. A deletion of it is ` +
        'recorded all the same: a page on its way may show it.',
    );
    return;
  }
  print(
    `\nErased ${id} of ${resourceName} of ${name}. That it was deleted stays known. Backups, files that were copied and what other ` +
      'records say of it are not reached.',
  );
}

/** Containers are hosts too. */
const mostHosts = 20;
