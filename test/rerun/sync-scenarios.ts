import { setSchedule } from '../../warehouse/connections/set-schedule.ts';
import { bill } from '../support/finance-records.ts';
import { throttleOnce, changedCompany } from './company.ts';
import type { Scenario, Start } from './scenario.ts';

export function syncScenarios(): readonly Scenario[] {
  return [
    {
      name: 'a first sync of a company with a bill that cannot be stored',
      async prepare({ connect, admin }) {
        const connection = await connect({ records: 60 });
        const record = bill('nobody-can-store-it', { total_amount: '{}' });
        await admin.execute({ kind: 'add', connection, resource: 'bills', record });
        return { ...buildSyncStart(connection), exact: connection, statuses: ['partial'] };
      },
    },
    {
      name: 'a sync of changes and deletions that the service asks to pause',
      async prepare(installation) {
        const connection = await changedCompany(installation);
        await throttleOnce(installation, connection);
        return { ...buildSyncStart(connection), exact: connection };
      },
    },
    {
      name: 'a sync so long that it is continued as new',
      async prepare({ connect, admin }) {
        const connection = await connect({ records: 600 });
        await admin.configure({ maximumLimit: 3 });
        return { ...buildSyncStart(connection), exact: connection };
      },
    },
    {
      name: 'a sync that is refused',
      async prepare({ connect, admin }) {
        const connection = await connect({ records: 20 });
        const refusal = { status: 401, code: 'CONNECTION_DISABLED' };
        await admin.execute({ kind: 'refuse', connection, refusal });
        return { ...buildSyncStart(connection), statuses: ['failed'] };
      },
    },
    {
      name: 'a tick of a schedule',
      async prepare(installation) {
        const connection = await changedCompany(installation);
        await setSchedule(installation.warehouse, { connectionId: connection, syncEvery: 86_400_000 });
        return {
          workflow: 'scheduledStart',
          workflowId: `tick/${connection}`,
          input: { kind: 'sync', connection },
          followedBy: [`sync/${connection}`],
          exact: connection,
        };
      },
    },
  ];
}

function buildSyncStart(connection: string): Start {
  return { workflow: 'syncConnection', workflowId: `sync/${connection}`, input: { connection } };
}
