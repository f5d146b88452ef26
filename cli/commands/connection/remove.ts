import { Command } from 'commander';
import type { RemovalProgress } from '../../../warehouse/connections/finish-removal.ts';
import {
  removeConnection,
  type ConnectionRemoved,
} from '../../../warehouse/connections/remove-connection.ts';
import { changeConnection } from '../../change-connection.ts';
import { print } from '../../printer.ts';
import { showUntil } from '../../show-progress.ts';
import { withWarehouse } from '../../with-warehouse.ts';
import { describeCompany } from './describe-company.ts';

export function removeCommand(): Command {
  return new Command('remove')
    .description(
      'Remove a connection with its schedules, state, records and history, or delete the records that an earlier removal kept.',
    )
    .argument('<name>', 'the connection')
    .option(
      '--keep-data',
      'keep records, history and deletions; only the same company can use the name again',
    )
    .addHelpText('after', '\nExample:\n  $ npx daybook connection remove acme-us --keep-data')
    .action(async (name: string, { keepData = false }: { keepData?: boolean }) => {
      const removal = await withWarehouse((warehouse, settings) =>
        whileShown(name, (onBatch) =>
          removeConnection(warehouse, {
            connectionId: name,
            keepData,
            onBatch,
            begin: (begin) =>
              changeConnection({ warehouse, settings }, { connectionId: name, endWorkflows: true }, begin),
          }),
        ),
      );
      for (const line of describeRemoval(name, { keepData, ...removal })) print(line);
    });
}

const quietMilliseconds = 2_000;

async function whileShown<Result>(
  name: string,
  work: (onBatch: (progress: RemovalProgress) => void) => Promise<Result>,
): Promise<Result> {
  let far: RemovalProgress | undefined;
  const ended = work((progress) => {
    far = progress;
  });
  return showUntil(
    ended,
    () => Promise.resolve(far),
    (progress, waited) =>
      progress === undefined || waited < quietMilliseconds
        ? ''
        : `Removing ${name}: ${progress.rows.toLocaleString('en-US')} rows deleted, now deleting from ${progress.table}. If interrupted, run the command again to continue.`,
  );
}

function describeRemoval(
  name: string,
  { keepData, removed, kept }: ConnectionRemoved & { keepData: boolean },
): string[] {
  if (removed === 'kept data') return [`Deleted the kept records of ${name}.`];
  if (kept === undefined)
    return [
      keepData ? `Removed ${name}; it had no records to keep.` : `Removed ${name} and all of its records.`,
    ];
  const done = removed === 'nothing' ? `${name} was removed before` : `Removed ${name}`;
  return [
    `${done}; its records, their history and deletions are kept. They belong to ${describeCompany(kept)}; no other company can be added as ${name}.`,
    `Delete them with: npx daybook connection remove ${name}`,
  ];
}
