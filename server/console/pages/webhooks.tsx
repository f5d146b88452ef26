import { listWebhooks } from '../../../warehouse/webhooks/list-webhooks.ts';
import { paths } from '../../frame/paths.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { Page, PageRequest } from '../page.ts';
import { FilterForm } from '../views/filter-form.tsx';
import { pageLength, pageOf, Pager } from '../views/pager.tsx';
import { WebhookTable } from '../views/webhook-table.tsx';
import { readChoice, connectionChoice, numberBefore } from './connection-choice.ts';

const statuses = ['waiting', 'applied', 'ignored'] as const;

/** The inbox: the webhooks that the service sent, and the outcome of each. */
export async function webhooksPage({ warehouse }: ConsoleParts, { query, now }: PageRequest): Promise<Page> {
  const before = numberBefore(query);
  const choices = [
    await connectionChoice(warehouse, query),
    readChoice(query, { name: 'status', label: 'State', options: statuses }),
  ] as const;
  const [{ chosen: connection }, { chosen }] = choices;
  const status = statuses.find((one) => one === chosen);
  const { shown, last } = pageOf(
    await listWebhooks(warehouse, { connectionId: connection, status, before, limit: pageLength + 1 }),
  );
  return {
    title: 'Webhooks',
    changing: shown.some((webhook) => webhook.status === 'waiting'),
    content: (
      <>
        <h1>Webhooks</h1>
        <p class="lead">What the service told of. Each is a hint; the record itself is always fetched.</p>
        <FilterForm action={paths.webhooks()} choices={choices} />
        <WebhookTable webhooks={shown} now={now} />
        <Pager
          newest={before === undefined ? undefined : paths.webhooks({ connection, status })}
          older={last === undefined ? undefined : paths.webhooks({ connection, status, before: last.id })}
        />
      </>
    ),
  };
}
