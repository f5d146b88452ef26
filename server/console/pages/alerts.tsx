import { readAlerts, type Alert } from '../../../warehouse/alerts/read-alerts.ts';
import { Moment } from '../../frame/moment.tsx';
import { paths } from '../../frame/paths.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { Page, PageRequest } from '../page.ts';
import { DataTable, type Column } from '../views/data-table.tsx';
import { Pill } from '../views/pill.tsx';

const mostShown = 200;

/** Open and closed alerts. */
export async function alertsPage({ warehouse }: ConsoleParts, { now }: PageRequest): Promise<Page> {
  const alerts = await readAlerts(warehouse, { limit: mostShown });
  return {
    title: 'Alerts',
    content: (
      <>
        <h1>Alerts</h1>
        <p class="lead">Things that needed attention, the newest {mostShown} first.</p>
        <DataTable
          caption="Alerts"
          columns={columnsAt(now)}
          rows={alerts}
          keyOf={({ id }) => `alert-${id}`}
          empty="There have been no alerts."
        />
      </>
    ),
  };
}

function columnsAt(now: Date): Column<Alert>[] {
  return [
    { head: 'Alert', kind: 'name', cell: ({ kind }) => kind },
    {
      head: 'Connection',
      cell: ({ connection_id: name }) => (name === null ? null : <a href={paths.connection(name)}>{name}</a>),
    },
    { head: 'State', cell: ({ resolved_at }) => <Pill state={resolved_at === null ? open : over} /> },
    {
      head: 'What is wrong, and what to do',
      kind: 'text',
      cell: ({ message, remedy }) => (
        <>
          {message} <span class="aside">{remedy}</span>
        </>
      ),
    },
    { head: 'Since', cell: ({ opened_at: at }) => <Moment at={at} now={now} /> },
    { head: 'Over', cell: ({ resolved_at: at }) => <Moment at={at} now={now} /> },
  ];
}

const open = { tone: 'bad', icon: 'warning', words: 'open' } as const;
const over = { tone: 'good', icon: 'check', words: 'over' } as const;
