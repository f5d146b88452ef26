import { countRecords } from '../../../warehouse/connections/count-records.ts';
import { readStatus } from '../../../warehouse/connections/read-status.ts';
import { readOpenAlerts } from '../../../warehouse/alerts/read-alerts.ts';
import { newestOpenEntries } from '../../../warehouse/quarantine/read-quarantine.ts';
import { readDiscrepancies } from '../../../warehouse/reconcile/read-discrepancies.ts';
import { readWaitingDeletions } from '../../../warehouse/reconcile/read-waiting-deletions.ts';
import { readRuns } from '../../../warehouse/runs/read-run.ts';
import { listWebhooks } from '../../../warehouse/webhooks/list-webhooks.ts';
import { connectionReports } from '../../../operations/connection-reports.ts';
import { readTemporalFacts } from '../../../operations/read-temporal-facts.ts';
import { paths } from '../../frame/paths.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { Page, PageRequest } from '../page.ts';
import { AlertCard } from '../views/alert-card.tsx';
import { ConnectionActions } from '../views/connection-actions.tsx';
import { ConnectionFacts } from '../views/connection-facts.tsx';
import { DiscrepancyTable } from '../views/discrepancy-table.tsx';
import { Pill } from '../views/pill.tsx';
import { QuarantineTable } from '../views/quarantine-table.tsx';
import { RunTable } from '../views/run-table.tsx';
import { RunningNow } from '../views/running-now.tsx';
import { Section } from '../views/section.tsx';
import { connectionStates } from '../views/states.ts';
import { StreamTable } from '../views/stream-table.tsx';
import { TemporalAway } from '../views/temporal-away.tsx';
import { DeletionQuestion } from '../views/deletion-question.tsx';
import { WebhookTable } from '../views/webhook-table.tsx';

/** The page shows only the newest rows of each list; the list's own page has the rest. */
const newest = 10;

/** Everything about one connection, and its actions. Throws UnknownConnection. */
export async function connectionPage(parts: ConsoleParts, { params, now }: PageRequest): Promise<Page> {
  const { warehouse, temporal, settings } = parts;
  const { connection: connectionId = '' } = params;
  const statuses = await readStatus(warehouse, connectionId);
  const { connections, temporalAnswered } = await connectionReports(statuses, (questions) =>
    readTemporalFacts(temporal, questions),
  );
  const [report] = connections;
  if (report === undefined) throw new Error(`The state of ${connectionId} was not read.`);
  const of = { connectionId, limit: newest };
  const [held, running, runs, waiting, alerts, entries, found, webhooks] = await Promise.all([
    countRecords(warehouse, connectionId),
    readRuns(warehouse, { ...of, running: true }),
    readRuns(warehouse, of),
    readWaitingDeletions(warehouse, { connectionId }),
    readOpenAlerts(warehouse, connectionId),
    newestOpenEntries(warehouse, of),
    readDiscrepancies(warehouse, of),
    listWebhooks(warehouse, of),
  ]);
  const filter = { connection: connectionId };
  return {
    title: connectionId,
    changing: running.length > 0,
    content: (
      <>
        <div class="headline">
          <h1>{connectionId}</h1>
          <span class="pills">
            {connectionStates(report, { waiting: waiting.length > 0 }).map((state) => (
              <Pill key={state.words} state={state} />
            ))}
          </span>
          <ConnectionActions report={report} />
        </div>
        {temporalAnswered ? null : <TemporalAway unknown="when the next sync runs" />}
        <ConnectionFacts report={report} now={now} />
        {alerts.length === 0 && waiting.length === 0 ? null : (
          <section aria-label="What needs you" class="alerts">
            {alerts.map((alert) => (
              <AlertCard key={alert.id} alert={alert} now={now} />
            ))}
            <DeletionQuestion waiting={waiting} />
          </section>
        )}
        <RunningNow runs={running} now={now} settings={settings} />
        <Section title="Streams">
          <StreamTable streams={report.streams} held={held} now={now} />
        </Section>
        <Section title="Runs" more={paths.runs(filter)}>
          <RunTable runs={runs} now={now} ofConnection />
        </Section>
        <Section title="Quarantine" more={paths.quarantine(filter)}>
          <QuarantineTable entries={entries} now={now} ofConnection />
        </Section>
        <Section title="Discrepancies" more={paths.discrepancies(filter)}>
          <DiscrepancyTable found={found} now={now} ofConnection />
        </Section>
        <Section title="Webhooks" more={paths.webhooks(filter)}>
          <WebhookTable webhooks={webhooks} now={now} ofConnection />
        </Section>
      </>
    ),
  };
}
