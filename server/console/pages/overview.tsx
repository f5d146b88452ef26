import type { VNode } from 'preact';
import { readOpenAlerts, type Alert } from '../../../warehouse/alerts/read-alerts.ts';
import { readStatus } from '../../../warehouse/connections/read-status.ts';
import { readMartsStatus } from '../../../warehouse/marts/read-marts-status.ts';
import { readWaitingDeletions } from '../../../warehouse/reconcile/read-waiting-deletions.ts';
import { readSnapshotStatus } from '../../../warehouse/snapshots/read-snapshot-status.ts';
import { connectionReports, type ConnectionReport } from '../../../operations/connection-reports.ts';
import { readTemporalFacts } from '../../../operations/read-temporal-facts.ts';
import { Moment } from '../../frame/moment.tsx';
import { paths } from '../../frame/paths.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { Page, PageRequest } from '../page.ts';
import { AlertCard } from '../views/alert-card.tsx';
import { DataTable, type Column } from '../views/data-table.tsx';
import { Pill } from '../views/pill.tsx';
import { PublishedTable } from '../views/published-table.tsx';
import { connectionStates, runStates } from '../views/states.ts';
import { TemporalAway } from '../views/temporal-away.tsx';

/** What is wrong, and how fresh every connection is. */
export async function overviewPage(
  { warehouse, temporal }: ConsoleParts,
  { now }: PageRequest,
): Promise<Page> {
  const [statuses, alerts, waiting, snapshot, marts] = await Promise.all([
    readStatus(warehouse),
    readOpenAlerts(warehouse),
    readWaitingDeletions(warehouse, {}),
    readSnapshotStatus(warehouse),
    readMartsStatus(warehouse),
  ]);
  const { connections, temporalAnswered } = await connectionReports(statuses, (questions) =>
    readTemporalFacts(temporal, questions),
  );
  return {
    title: 'Overview',
    changing: connections.some(({ last_run }) => last_run?.status === 'running'),
    content: (
      <>
        <h1>Connections</h1>
        <p class="lead">{summaryOf(connections, alerts)}</p>
        {temporalAnswered ? null : <TemporalAway unknown="when the next syncs run" />}
        <OpenAlerts alerts={alerts} now={now} />
        <DataTable
          caption="Connections"
          columns={columnsAt(now, new Set(waiting.map(({ connection_id }) => connection_id)))}
          rows={connections}
          keyOf={({ name }) => `connection-${name}`}
          empty='There are no connections yet: add one with "daybook connection add".'
        />
        <PublishedTable snapshot={snapshot} marts={marts} now={now} />
      </>
    ),
  };
}

function summaryOf(connections: readonly ConnectionReport[], alerts: readonly Alert[]): string {
  const stale = connections.filter((connection) => connection.stale).length;
  const paused = connections.filter((connection) => connection.paused !== null).length;
  const failing = connections.filter(({ failures, troubles }) => failures > 0 || troubles.length > 0).length;
  return [
    counted(connections.length, 'connection'),
    ...(failing > 0 ? [`${failing} failing`] : []),
    ...(stale > 0 ? [`${stale} stale`] : []),
    ...(paused > 0 ? [`${paused} paused`] : []),
    ...(alerts.length > 0 ? [counted(alerts.length, 'open alert')] : []),
    ...(alerts.length === 0 && failing === 0 ? ['nothing needs you'] : []),
  ].join(' · ');
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
}

function OpenAlerts({ alerts, now }: { alerts: readonly Alert[]; now: Date }): VNode | null {
  if (alerts.length === 0) return null;
  return (
    <section aria-label="Open alerts" class="alerts">
      {alerts.map((alert) => (
        <AlertCard key={alert.id} alert={alert} now={now} />
      ))}
    </section>
  );
}

function columnsAt(now: Date, waiting: ReadonlySet<string>): Column<ConnectionReport>[] {
  return [
    {
      head: 'Connection',
      kind: 'name',
      cell: ({ name, platform }) => (
        <>
          <a href={paths.connection(name)}>{name}</a>{' '}
          {platform === null ? null : <span class="aside">{platform}</span>}
        </>
      ),
    },
    {
      head: 'State',
      cell: (connection) => (
        <span class="pills">
          {connectionStates(connection, { waiting: waiting.has(connection.name) }).map((state) => (
            <Pill key={state.words} state={state} />
          ))}
        </span>
      ),
    },
    { head: 'Complete as of', cell: (connection) => <Moment at={oldestSuccess(connection)} now={now} /> },
    {
      head: 'Last run',
      cell: ({ last_run: run }) =>
        run === null ? null : (
          <span class="inline">
            <a href={paths.run(run.run_id)}>
              {run.kind} {runStates[run.status].words}
            </a>{' '}
            <span class="aside">
              <Moment at={run.started_at} now={now} />
            </span>
          </span>
        ),
    },
    { head: 'Next run', cell: (connection) => <NextRun connection={connection} now={now} /> },
    {
      head: 'Quarantine',
      kind: 'number',
      cell: ({ name, quarantined }) =>
        quarantined === 0 ? (
          <span class="aside">none</span>
        ) : (
          <a href={paths.quarantine({ connection: name })}>{quarantined.toLocaleString('en-US')}</a>
        ),
    },
    {
      head: 'Webhooks',
      cell: ({ name, webhooks: { last_received_at: last, waiting } }) =>
        last === null ? (
          <span class="aside">none</span>
        ) : (
          <a href={paths.webhooks({ connection: name })}>
            <Moment at={last} now={now} />
            {waiting > 0 ? `, ${waiting.toLocaleString('en-US')} waiting` : ''}
          </a>
        ),
    },
  ];
}

/** The connection is complete up to here: one list that lags makes all of it lag. */
function oldestSuccess({ streams }: ConnectionReport): Date | null {
  const successes = streams
    .filter(({ state }) => state !== 'unsupported')
    .map(({ last_success_at }) => last_success_at?.getTime());
  return successes.length === 0 || successes.includes(undefined)
    ? null
    : new Date(Math.min(...successes.map((time) => time ?? 0)));
}

function NextRun({ connection, now }: { connection: ConnectionReport; now: Date }): VNode {
  const { next_run_at: next, every_seconds: every, paused } = connection;
  if (next !== null) return <Moment at={next} now={now} />;
  if (paused !== null) return <span class="aside">when resumed</span>;
  return <span class="aside">{every === null ? 'on request' : 'not known'}</span>;
}
