import type { VNode } from 'preact';
import { readOpenAlerts, type Alert } from '../../../warehouse/alerts/read-alerts.ts';
import { countOpenAlerts } from '../../../warehouse/alerts/count-open-alerts.ts';
import {
  connectionFilters,
  rankConnections,
  type ConnectionFilter,
  type Ranking,
} from '../../../warehouse/connections/rank-connections.ts';
import { readApiSilence } from '../../../warehouse/api-budget/read-api-silence.ts';
import { readDemand } from '../../../warehouse/connections/read-demand.ts';
import { readStatusesFor } from '../../../warehouse/connections/read-status.ts';
import { readMartsStatus } from '../../../warehouse/marts/read-marts-status.ts';
import { countInWords } from '../../../warehouse/quarantine/count-open-entries.ts';
import { connectionsAskingForApproval } from '../../../warehouse/reconcile/asked-for-approval.ts';
import { readSnapshotStatus } from '../../../warehouse/snapshots/read-snapshot-status.ts';
import {
  connectionReports,
  unlessTemporalIsAway,
  type ConnectionReport,
} from '../../../operations/connection-reports.ts';
import { budgetWarning, silenceInWords } from '../../../operations/demand-words.ts';
import { readTemporalFacts } from '../../../operations/read-temporal-facts.ts';
import { pausedSchedules } from '../../../operations/schedules/paused-schedules.ts';
import { counted } from '../../frame/counted.ts';
import { Moment } from '../../frame/moment.tsx';
import { paths } from '../../frame/paths.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { Page, PageRequest } from '../page.ts';
import { AlertCard } from '../views/alert-card.tsx';
import { DataTable, type Column } from '../views/data-table.tsx';
import { FilterForm } from '../views/filter-form.tsx';
import { PageLinks } from '../views/pager.tsx';
import { written } from './connection-choice.ts';
import { Note } from '../views/note.tsx';
import { Pill } from '../views/pill.tsx';
import { PublishedTable } from '../views/published-table.tsx';
import { connectionStates, runStates } from '../views/states.ts';
import { TemporalAway } from '../views/temporal-away.tsx';

/** Each row is about 2 KB and needs several index look-ups to read, so thousands could be neither read nor drawn in time. */
const rowsOfPage = 100;
/** The rest are on the alerts page. */
const mostAlerts = 20;

/** The problems, and the freshness of the connections: paged, with those that need a person first. */
export async function overviewPage(
  { warehouse, settings, temporal }: ConsoleParts,
  { query, now }: PageRequest,
): Promise<Page> {
  const { filter, search, page } = askedFor(query);
  const pausedElsewhere = await pausedSchedules(temporal).catch(unlessTemporalIsAway);
  const ranking = await rankConnections(warehouse, {
    pausedElsewhere: [...(pausedElsewhere?.keys() ?? [])],
    filter,
    search,
    limit: rowsOfPage,
    offset: (page - 1) * rowsOfPage,
  });
  const [statuses, alerts, open, asking, demand, silentUntil, snapshot, marts] = await Promise.all([
    readStatusesFor(warehouse, ranking.names),
    readOpenAlerts(warehouse, undefined, { limit: mostAlerts }),
    countOpenAlerts(warehouse),
    connectionsAskingForApproval(warehouse),
    readDemand(warehouse, settings.api),
    readApiSilence(warehouse, settings.api),
    readSnapshotStatus(warehouse),
    readMartsStatus(warehouse),
  ]);
  const { connections, temporalAnswered } = await connectionReports(
    statuses,
    // If Temporal was unreachable above, it is not waited for again.
    pausedElsewhere === undefined ? undefined : (questions) => readTemporalFacts(temporal, questions),
  );
  const tooMuch = budgetWarning(demand);
  const silence = silenceInWords(silentUntil);
  const openAlerts = Object.values(open).reduce((sum, count) => sum + count, 0);
  return {
    title: 'Overview',
    // In a fleet something is always running, and a refresh every two seconds would show little more.
    changing:
      ranking.connections <= rowsOfPage && connections.some(({ last_run }) => last_run?.status === 'running'),
    content: (
      <>
        <h1>Connections</h1>
        <p class="lead">{summaryOf(ranking, connections, openAlerts)}</p>
        {tooMuch === undefined ? null : <Note>API budget: {tooMuch}</Note>}
        {silence === undefined ? null : <Note>API: {silence}</Note>}
        {temporalAnswered ? null : <TemporalAway unknown="when the next syncs run" />}
        <OpenAlerts alerts={alerts} open={openAlerts} now={now} />
        <FilterForm
          action={paths.overview()}
          choices={[
            { name: 'state', label: 'State', options: connectionFilters, chosen: filter },
            { name: 'search', label: 'Name has', options: undefined, chosen: search },
          ]}
        />
        <DataTable
          caption="Connections"
          columns={columnsAt(now, new Set(asking))}
          rows={connections}
          keyOf={({ name }) => `connection-${name}`}
          empty={
            ranking.connections === 0
              ? 'There are no connections yet: add one with "daybook connection add".'
              : 'There is no such connection.'
          }
        />
        <PageLinks
          links={{
            Previous: page > 1 ? paths.overview({ state: filter, search, page: page - 1 }) : undefined,
            Next:
              page * rowsOfPage < ranking.matching
                ? paths.overview({ state: filter, search, page: page + 1 })
                : undefined,
          }}
        />
        <PublishedTable snapshot={snapshot} marts={marts} now={now} />
      </>
    ),
  };
}

function askedFor(query: URLSearchParams): {
  filter: ConnectionFilter | undefined;
  search: string | undefined;
  page: number;
} {
  const state = query.get('state');
  const page = query.get('page') ?? '';
  return {
    filter: connectionFilters.find((name) => name === state),
    search: written(query, 'search'),
    page: /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1,
  };
}

function summaryOf(
  { connections: all, counts }: Ranking,
  shown: readonly ConnectionReport[],
  alerts: number,
): string {
  const retrying = shown.filter(({ failures, troubles }) => failures === 0 && troubles.length > 0).length;
  const failing = counts.failing + retrying;
  return [
    counted(all, 'connection'),
    ...(failing > 0 ? [`${failing.toLocaleString('en-US')} failing`] : []),
    ...(['stale', 'paused'] as const).flatMap((state) =>
      counts[state] > 0 ? [`${counts[state].toLocaleString('en-US')} ${state}`] : [],
    ),
    ...(alerts > 0 ? [counted(alerts, 'open alert')] : []),
    ...(alerts === 0 && failing === 0 ? ['nothing needs you'] : []),
  ].join(' · ');
}

function OpenAlerts({
  alerts,
  open,
  now,
}: {
  alerts: readonly Alert[];
  open: number;
  now: Date;
}): VNode | null {
  if (alerts.length === 0) return null;
  return (
    <section aria-label="Open alerts" class="alerts">
      {alerts.map((alert) => (
        <AlertCard key={alert.id} alert={alert} now={now} />
      ))}
      {open > alerts.length ? (
        <p class="aside">
          <a href={paths.alerts()}>{counted(open - alerts.length, 'more open alert')}</a>
        </p>
      ) : null}
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
          <a href={paths.quarantine({ connection: name })}>{countInWords(quarantined)}</a>
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

/** The time up to which the whole connection is complete: the oldest success of its lists. Null if any list has none. */
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
