import { Command } from 'commander';
import { rebuildConnection, type RebuiltResource } from '../../operations/rebuild-connection.ts';
import { resourcesNamed } from '../../resources/index.ts';
import { resourceOption } from '../options.ts';
import { print, printAside, printJson, printTable } from '../printer.ts';
import { lineEveryMilliseconds } from '../show-progress.ts';
import { withWarehouse } from '../with-warehouse.ts';

interface Options {
  resource?: string[];
  json?: true;
}

export function rebuildCommand(): Command {
  return new Command('rebuild')
    .description("Rebuild a connection's finance tables from history, without the API.")
    .argument('<name>', 'the connection')
    .addOption(resourceOption())
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook rebuild acme-us --resource bills')
    .action(async (name: string, { resource: wanted = [], json }: Options) => {
      const resources = resourcesNamed(wanted);
      const rebuilt = await withWarehouse((warehouse) =>
        rebuildConnection(warehouse, {
          connectionId: name,
          resources,
          onBatch: json === true ? () => undefined : progressLines(),
        }),
      );
      if (json === true) printJson(rebuilt);
      else show(name, rebuilt);
    });
}

function progressLines(): (sofar: RebuiltResource) => void {
  let spoken = performance.now();
  return ({ resource, written }) => {
    const now = performance.now();
    if (now - spoken < lineEveryMilliseconds) return;
    spoken = now;
    printAside(`${resource}: ${written.toLocaleString('en-US')} records`);
  };
}

function show(name: string, rebuilt: readonly RebuiltResource[]): void {
  printTable(
    ['resource', 'written', 'restored', 'rows removed'],
    rebuilt.map(({ resource, written, restored, removed }) => [resource, written, restored, removed]),
  );
  print(`\nRebuilt ${name} from history.`);
}
