import { changeBill, readIds, syncedCompany, readListeningUrl } from '../webhooks/company.ts';
import { send } from '../webhooks/webhook.ts';
import type { DaybookProcess } from '../support/daybook-process.ts';
import type { Installation } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import { throttleOnce, changedCompany } from './company.ts';
import type { Scenario } from './scenario.ts';

/** Scenarios of no single connection, and of webhooks, which `worker` receives. */
export function otherScenarios(worker: DaybookProcess): readonly Scenario[] {
  return [
    {
      name: 'webhooks that are applied after a pause that the service asked for',
      async prepare(installation) {
        const connection = await syncedCompany(installation);
        await postponeWebhooks(installation, connection, '1 hour');
        for (const id of await readIds(installation, connection, { count: 5 })) {
          await send(
            readListeningUrl(worker),
            await changeBill(installation, connection, { id, memo: 'told' }),
          );
        }
        await throttleOnce(installation, connection);
        await postponeWebhooks(installation, connection, '0');
        return {
          workflow: 'applyWebhooks',
          workflowId: `webhooks/${connection}`,
          input: { connection },
          exact: connection,
          // The webhook that met the pause is postponed, and a run of its own applies it.
          statuses: ['failed', 'succeeded'],
          isOver: async () =>
            (await rows(installation.warehouse, unfinished, [connection, `webhooks/${connection}`]))
              .length === 0,
        };
      },
    },
    {
      name: 'an export, and the marts that are built after it',
      async prepare(installation) {
        await changedCompany(installation);
        return {
          workflow: 'exportSnapshot',
          workflowId: 'export',
          input: {},
          followedBy: ['marts'],
          statuses: ['succeeded', withoutPython],
        };
      },
    },
    {
      name: 'a build of the marts',
      prepare: () =>
        Promise.resolve({
          workflow: 'buildMarts',
          workflowId: 'marts',
          input: {},
          statuses: [withoutPython],
        }),
    },
    {
      name: 'a prune of old data',
      prepare: () => Promise.resolve({ workflow: 'pruneWarehouse', workflowId: 'prune', input: {} }),
    },
  ];
}

/** The status of a build of marts without Python. */
const withoutPython = 'unsupported';

/** Puts off all webhooks of the connection for this long. */
async function postponeWebhooks(
  { warehouse }: Installation,
  connection: string,
  time: string,
): Promise<void> {
  await warehouse.pool.query(
    'update sync.connections set webhooks_after = now() + $2::interval where connection_id = $1',
    [connection, time],
  );
}

const unfinished = `
  select from sync.webhook_inbox where connection_id = $1 and status = 'waiting'
  union all
  select from sync.runs where workflow_id = $2 and status = 'running'`;
