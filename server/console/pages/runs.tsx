import { readRuns } from '../../../warehouse/runs/read-run.ts';
import { paths } from '../../frame/paths.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { Page, PageRequest } from '../page.ts';
import { FilterForm } from '../views/filter-form.tsx';
import { pageLength, pageOf, Pager } from '../views/pager.tsx';
import { RunTable } from '../views/run-table.tsx';
import { connectionChoice } from './connection-choice.ts';

/** The latest runs of all connections, or of one. */
export async function runsPage({ warehouse }: ConsoleParts, { query, now }: PageRequest): Promise<Page> {
  const before = query.get('before') ?? undefined;
  const choice = await connectionChoice(warehouse, query);
  const connection = choice.chosen;
  const read = await readRuns(warehouse, { connectionId: connection, before, limit: pageLength + 1 });
  const { shown, last } = pageOf(read);
  return {
    title: 'Runs',
    changing: shown.some(({ status }) => status === 'running'),
    content: (
      <>
        <h1>Runs</h1>
        <FilterForm action={paths.runs()} choices={[choice]} />
        <RunTable runs={shown} now={now} />
        <Pager
          newest={before === undefined ? undefined : paths.runs({ connection })}
          older={last === undefined ? undefined : paths.runs({ connection, before: last.run_id })}
        />
      </>
    ),
  };
}
