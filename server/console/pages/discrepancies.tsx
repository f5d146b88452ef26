import { readDiscrepancies } from '../../../warehouse/reconcile/read-discrepancies.ts';
import { readWaitingDeletions } from '../../../warehouse/reconcile/read-waiting-deletions.ts';
import { paths } from '../../frame/paths.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { Page, PageRequest } from '../page.ts';
import { DeletionQuestions } from '../views/deletion-questions.tsx';
import { DiscrepancyTable } from '../views/discrepancy-table.tsx';
import { FilterForm } from '../views/filter-form.tsx';
import { pageLength, pageOf, Pager } from '../views/pager.tsx';
import { connectionChoice, numberBefore } from './connection-choice.ts';

/** What reconciles found, and what waits for approval. */
export async function discrepanciesPage(
  { warehouse }: ConsoleParts,
  { query, now }: PageRequest,
): Promise<Page> {
  const before = numberBefore(query);
  const choice = await connectionChoice(warehouse, query);
  const connection = choice.chosen;
  const [read, waiting] = await Promise.all([
    readDiscrepancies(warehouse, { connectionId: connection, before, limit: pageLength + 1 }),
    readWaitingDeletions(warehouse, { connectionId: connection }),
  ]);
  const { shown, last } = pageOf(read);
  return {
    title: 'Discrepancies',
    content: (
      <>
        <h1>Discrepancies</h1>
        <p class="lead">Differences between source and warehouse that reconciles found.</p>
        {waiting.length === 0 ? null : (
          <section aria-label="Deletions waiting for approval" class="alerts">
            <DeletionQuestions waiting={waiting} />
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
