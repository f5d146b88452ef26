import { resourceNames } from '../../../resources/index.ts';
import { newestOpenEntries } from '../../../warehouse/quarantine/read-quarantine.ts';
import { paths } from '../../frame/paths.ts';
import { mostReplayed } from '../actions/replay-entries.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { Page, PageRequest } from '../page.ts';
import { FilterForm } from '../views/filter-form.tsx';
import { pageLength, pageOf, Pager } from '../views/pager.tsx';
import { QuarantineTable } from '../views/quarantine-table.tsx';
import { readChoice, connectionChoice, numberBefore } from './connection-choice.ts';

/** Records that could not land, with forms to replay or discard them. */
export async function quarantinePage(
  { warehouse }: ConsoleParts,
  { query, now }: PageRequest,
): Promise<Page> {
  const before = numberBefore(query);
  const choices = [
    await connectionChoice(warehouse, query),
    readChoice(query, { name: 'resource', label: 'Resource', options: resourceNames }),
  ] as const;
  const [{ chosen: connection }, { chosen: resource }] = choices;
  const { shown, last } = pageOf(
    await newestOpenEntries(warehouse, {
      connectionId: connection,
      resource,
      before,
      limit: pageLength + 1,
    }),
  );
  return {
    title: 'Quarantine',
    content: (
      <>
        <h1>Quarantine</h1>
        <p class="lead">
          Records that could not land. The last good version of each stays in <code>finance</code>. To see
          what was sent: <code>daybook quarantine show ID</code>.
        </p>
        <FilterForm action={paths.quarantine()} choices={choices} />
        <form method="post" action="/quarantine/replay" id="quarantine">
          <QuarantineTable entries={shown} now={now} choosable />
          {shown.length === 0 ? null : (
            <div class="deeds" role="group" aria-label="With the chosen entries">
              <button type="submit" class="button button-main">
                Replay chosen
              </button>
              <label class="why">
                Why discard
                <input type="text" name="why" id="why" maxLength={500} autocomplete="off" />
              </label>
              <button type="submit" class="button button-danger" formAction="/quarantine/discard">
                Discard chosen
              </button>
              <p class="aside">
                A replay fetches each record again, at most {mostReplayed} at once, for half a minute at most.
              </p>
            </div>
          )}
        </form>
        <Pager
          newest={before === undefined ? undefined : paths.quarantine({ connection, resource })}
          older={last === undefined ? undefined : paths.quarantine({ connection, resource, before: last.id })}
        />
      </>
    ),
  };
}
