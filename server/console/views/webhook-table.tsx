import type { VNode } from 'preact';
import type { WebhookListed } from '../../../warehouse/webhooks/list-webhooks.ts';
import { Moment } from '../../frame/moment.tsx';
import { paths } from '../../frame/paths.ts';
import { DataTable, type Column } from './data-table.tsx';
import { Pill } from './pill.tsx';
import { webhookStates } from './states.ts';

/** Webhooks and their outcomes; never their bodies. */
export function WebhookTable({
  webhooks,
  now,
  ofConnection = false,
}: {
  webhooks: readonly WebhookListed[];
  now: Date;
  /** True if all rows are of one connection, which the page names. */
  ofConnection?: boolean;
}): VNode {
  return (
    <DataTable
      caption="Webhooks"
      columns={columnsAt(now)}
      rows={webhooks}
      keyOf={({ id }) => `webhook-${id}`}
      empty="No webhook has arrived."
      without={ofConnection ? 'Connection' : undefined}
    />
  );
}

function columnsAt(now: Date): Column<WebhookListed>[] {
  return [
    {
      head: 'Webhook',
      kind: 'name',
      cell: ({ type, code }) => (
        <>
          {code} <span class="aside">{type}</span>
        </>
      ),
    },
    {
      head: 'Connection',
      cell: ({ connection_id: name }) =>
        name === null ? <span class="aside">unknown</span> : <a href={paths.connection(name)}>{name}</a>,
    },
    { head: 'Record', cell: ({ record_id: record }) => (record === null ? null : <code>{record}</code>) },
    { head: 'State', cell: ({ status }) => <Pill state={webhookStates[status]} /> },
    {
      head: 'Outcome',
      kind: 'text',
      cell: ({ outcome, run_id }) =>
        run_id === null ? outcome : <a href={paths.run(run_id)}>{outcome ?? 'run'}</a>,
    },
    {
      head: 'Arrived',
      cell: ({ received_at: at, deliveries }) => (
        <span class="inline">
          <Moment at={at} now={now} />{' '}
          {deliveries > 1 ? <span class="aside">{deliveries.toLocaleString('en-US')} times</span> : null}
        </span>
      ),
    },
    { head: 'Closed', cell: ({ closed_at: at }) => <Moment at={at} now={now} /> },
  ];
}
