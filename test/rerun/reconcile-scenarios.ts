import { workflowIds } from '../../temporal/workflow-ids.ts';
import { approveDeletesSignal } from '../../workflows/await-approval.ts';
import type { DeletionQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import { shownDeletions } from '../support/reconcile.ts';
import { syncedCompany } from '../webhooks/company.ts';
import { changedCompany, damage, emptiedCompany, deleteWithoutEvents, stoppedCompany } from './company.ts';
import type { Scenario, Start } from './scenario.ts';

export function reconcileScenarios(): readonly Scenario[] {
  return [
    {
      name: 'a reconcile that finds damage, changes and records that are gone',
      async prepare(installation) {
        const connection = await changedCompany(installation);
        await damage(installation, connection);
        await deleteWithoutEvents(installation, connection, 3);
        return { ...buildReconcileStart(connection), exact: connection };
      },
    },
    {
      name: 'a reconcile that stops for approval',
      async prepare(installation) {
        const connection = await emptiedCompany(installation);
        return { ...buildReconcileStart(connection), statuses: ['partial'] };
      },
    },
    {
      name: 'a reconcile that deletes what was approved',
      async prepare(installation) {
        const connection = await stoppedCompany(installation);
        const approved = await shownDeletions(installation, connection);
        return { ...buildReconcileStart(connection, { approved }), exact: connection };
      },
    },
    {
      name: 'an approval question that is answered with yes',
      async prepare(installation) {
        const connection = await stoppedCompany(installation);
        const { bills } = await shownDeletions(installation, connection);
        const foundBy = { bills: bills?.run };
        const workflowId = workflowIds.approval(connection);
        await installation.client.workflow.getHandle(workflowId).terminate();
        return {
          ...{
            workflow: 'awaitApproval',
            workflowId,
            input: { connection, waiting: { bills: 60 }, foundBy },
          },
          ...{
            signal: approveDeletesSignal.name,
            followedBy: [`reconcile/${connection}`],
            exact: connection,
          },
        };
      },
    },
    {
      name: 'a backfill of many windows that repairs damage',
      async prepare(installation) {
        const connection = await syncedCompany(installation);
        await damage(installation, connection);
        const windows = { from: '2020-01-01', to: '2030-01-01', windowMilliseconds: 800 * 86_400_000 };
        return {
          workflow: 'backfillConnection',
          workflowId: `backfill/${connection}/decade`,
          input: { connection, ...windows },
          exact: connection,
        };
      },
    },
  ];
}

function buildReconcileStart(connection: string, more: { approved?: DeletionQuestion } = {}): Start {
  return {
    workflow: 'reconcileConnection',
    workflowId: `reconcile/${connection}`,
    input: { connection, ...more },
  };
}
