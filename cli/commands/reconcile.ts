import { Command } from 'commander';
import { buildQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import {
  readWaitingDeletions,
  type WaitingDeletions,
} from '../../warehouse/reconcile/read-waiting-deletions.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { startRequest, type StartInputs } from '../../temporal/start-request.ts';
import type { RunRequest } from '../../operations/start-run.ts';
import type { SetExitCode } from '../exit-codes.ts';
import { resourceOption, resourcesInput } from '../options.ts';
import { printAside } from '../printer.ts';
import { runAndFollow } from '../run-and-follow.ts';

interface Options {
  resource?: string[];
  approveDeletes: boolean;
  wait: boolean;
  json?: boolean;
}

export function reconcileCommand(setExitCode: SetExitCode): Command {
  return new Command('reconcile')
    .description(
      'List every record of a connection, repair what differs, and prove that both sides are equal.',
    )
    .argument('<name>', 'the connection')
    .addOption(resourceOption())
    .option(
      '--approve-deletes',
      'first delete what the last stopped reconcile listed, and nothing that was found later',
      false,
    )
    .option('--no-wait', 'start it and return')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook reconcile acme-us --resource bills')
    .action(async (connection: string, options: Options) => {
      const { resource: resources = [], approveDeletes, wait, json = false } = options;
      const input = {
        connection,
        ...resourcesInput(resources),
        reason: 'daybook reconcile',
      };
      const requested = async (warehouse: Warehouse): Promise<RunRequest> => {
        const approved = approveDeletes ? await approval(warehouse, input) : {};
        return startRequest('reconcile', { ...input, ...approved }, 'people');
      };
      setExitCode(await runAndFollow(requested, { wait, json }));
    });
}

/** Names and prints the deletions that wait now. Deletions that start to wait before the reconcile begins are not approved. */
async function approval(
  warehouse: Warehouse,
  { connection, resources }: { connection: string; resources?: readonly string[] },
): Promise<Pick<StartInputs['reconcile'], 'approved'>> {
  const all = await readWaitingDeletions(warehouse, { connectionId: connection });
  const waiting = all.filter(({ resource }) => resources?.includes(resource) ?? true);
  printAside(
    waiting.length === 0
      ? `No deletions of ${connection} wait for approval.`
      : `Approved: to delete ${waiting.map(inWords).join(', ')}.`,
  );
  return waiting.length === 0 ? {} : { approved: buildQuestion(waiting) };
}

function inWords({ records, resource, run_id }: WaitingDeletions): string {
  return `${records} ${resource} that the reconcile ${run_id} found gone`;
}
