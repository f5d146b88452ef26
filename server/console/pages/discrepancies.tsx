import { connectionsAskingForApproval } from '../../../warehouse/reconcile/asked-for-approval.ts';
import { readDiscrepancies } from '../../../warehouse/reconcile/read-discrepancies.ts';
import { readWaitingDeletions } from '../../../warehouse/reconcile/read-waiting-deletions.ts';
import { paths } from '../../frame/paths.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { VNode } from 'preact';
import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import type { Page, PageRequest } from '../page.ts';
import { AskingConnections } from '../views/asking-connections.tsx';
import { DeletionQuestion } from '../views/deletion-question.tsx';
import { DiscrepancyTable } from '../views/discrepancy-table.tsx';
import { FilterForm } from '../views/filter-form.tsx';
import { pageLength, pageOf, Pager } from '../views/pager.tsx';
import { connectionChoice, numberBefore } from './connection-choice.ts';

/** The discrepancies that reconciles found, and the deletions that wait for approval. */
export async function discrepanciesPage(
  { warehouse }: ConsoleParts,
  { query, now }: PageRequest,
): Promise<Page> {
  const before = numberBefore(query);
  const choice = await connectionChoice(warehouse, query);
  const connection = choice.chosen;
  const [read, questions] = await Promise.all([
    readDiscrepancies(warehouse, { connectionId: connection, before, limit: pageLength + 1 }),
    approvalQuestion(warehouse, connection),
  ]);
  const { shown, last } = pageOf(read);
  return {
    title: 'Discrepancies',
    content: (
      <>
        <h1>Discrepancies</h1>
        <p class="lead">Differences between source and warehouse that reconciles found.</p>
        {questions === null ? null : (
          <section aria-label="Deletions waiting for approval" class="alerts">
            {questions}
          </section>
        )}
        <FilterForm action={paths.discrepancies()} choices={[choice]} />
        <DiscrepancyTable found={shown} now={now} />
        <Pager
          newest={before === undefined ? undefined : paths.discrepancies({ connection })}
          older={last === undefined ? undefined : paths.discrepancies({ connection, before: last.id })}
        />
      </>
    ),
  };
}

/** For all connections, only their names are shown: counting many waiting deletions is slow, and each connection has its own page. */
async function approvalQuestion(warehouse: Warehouse, connection: string | undefined): Promise<VNode | null> {
  if (connection === undefined) {
    const asking = await connectionsAskingForApproval(warehouse);
    return asking.length === 0 ? null : <AskingConnections names={asking} />;
  }
  const waiting = await readWaitingDeletions(warehouse, { connectionId: connection });
  return waiting.length === 0 ? null : <DeletionQuestion waiting={waiting} />;
}
