import type { VNode } from 'preact';
import { readRuns, type RunStreamRead } from '../../../warehouse/runs/read-run.ts';
import { runNames } from '../../../operations/run-names.ts';
import { ExactTime, lengthOf, Moment } from '../../frame/moment.tsx';
import { paths } from '../../frame/paths.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { Page, PageRequest } from '../page.ts';
import { DataTable, type Column } from '../views/data-table.tsx';
import { Facts } from '../views/facts.tsx';
import { Pill } from '../views/pill.tsx';
import { millisecondsOf } from '../views/run-table.tsx';
import { runStates } from '../views/states.ts';
import { TotalsTable } from '../views/totals-table.tsx';
import { WorkflowLink } from '../views/workflow-link.tsx';

/** The results of one run, list by list. */
export async function runPage(
  { warehouse, settings }: ConsoleParts,
  { params, now }: PageRequest,
): Promise<Page | undefined> {
  const [run] = await readRuns(warehouse, { temporalRunId: params.run, totals: true, limit: 1 });
  if (run === undefined) return undefined;
  const { connection_id: connection, kind, target, status, reason, failure, outcome } = run;
  const { started_at, finished_at } = run;
  const name = target === null ? `${runNames[kind]} of ${connection ?? 'everything'}` : places[target];
  return {
    title: name,
    changing: status === 'running',
    content: (
      <>
        <div class="headline">
          <h1>{name}</h1>
          <Pill state={runStates[status]} />
        </div>
        {failure === null ? null : <p class="failure">{failure}</p>}
        {outcome === null ? null : <p class="lead">{outcome}</p>}
        <Facts
          of={{
            Connection: connection === null ? null : <a href={paths.connection(connection)}>{connection}</a>,
            'Asked for by': reason,
            Started: <ExactTime at={started_at} />,
            Finished: <ExactTime at={finished_at} />,
            Took: lengthOf(millisecondsOf(run, now)),
            Workflow: <WorkflowLink run={run} settings={settings} />,
          }}
        />
        {connection === null ? null : (
          <>
            <h2>Streams</h2>
            <DataTable
              caption="What the run did to each stream"
              columns={columnsAt(now)}
              rows={run.streams}
              keyOf={({ stream }) => `stream-${stream}`}
              empty="It has read nothing yet."
            />
          </>
        )}
        <Failures streams={run.streams} />
        <TotalsTable streams={run.streams} />
      </>
    ),
  };
}

const places = {
  postgres: 'Build of the marts in Postgres',
  lake: 'Build of the marts on the lake',
  spark: 'Build of the marts on Spark',
} as const;

function columnsAt(now: Date): Column<RunStreamRead>[] {
  return [
    { head: 'Stream', kind: 'name', cell: ({ stream }) => stream },
    { head: 'State', cell: ({ status }) => <Pill state={runStates[status]} /> },
    { head: 'Took', kind: 'number', cell: (stream) => lengthOf(millisecondsOf(stream, now)) },
    ...counted.map(([head, count]): Column<RunStreamRead> => ({
      head,
      kind: 'number',
      cell: (stream) => stream[count],
    })),
    {
      head: 'Complete up to',
      cell: ({ watermark_before: before, watermark_after: after }) => (
        <Watermark before={before} after={after} now={now} />
      ),
    },
  ];
}

const counted = [
  ['Pages', 'pages'],
  ['Requests', 'requests'],
  ['Read', 'read'],
  ['New', 'inserted'],
  ['Changed', 'updated'],
  ['Known', 'unchanged'],
  ['Deleted', 'deleted'],
  ['Quarantined', 'quarantined'],
] as const;

function Watermark({
  before,
  after,
  now,
}: {
  before: Date | null;
  after: Date | null;
  now: Date;
}): VNode | null {
  if (before === null) return <Moment at={after} now={now} />;
  if (after === null) return <Moment at={before} now={now} />;
  return (
    <span class="inline">
      <Moment at={after} now={now} />{' '}
      {after.getTime() === before.getTime() ? null : (
        <span class="aside">
          was <Moment at={before} now={now} />
        </span>
      )}
    </span>
  );
}

function Failures({ streams }: { streams: readonly RunStreamRead[] }): VNode | null {
  const failed = streams.filter(({ failure }) => failure !== null);
  if (failed.length === 0) return null;
  return (
    <>
      <h2>What went wrong</h2>
      <DataTable
        caption="What went wrong"
        columns={[
          { head: 'Stream', kind: 'name', cell: ({ stream }) => stream },
          { head: 'Type', cell: ({ failure_type }) => <code>{failure_type}</code> },
          { head: 'What happened', kind: 'text', cell: ({ failure }) => failure },
        ]}
        rows={failed}
        keyOf={({ stream }) => `failure-${stream}`}
        empty=""
      />
    </>
  );
}
