import type { VNode } from 'preact';
import type { RunRead, RunStreamRead } from '../../../warehouse/runs/read-run.ts';
import { runNames } from '../../../operations/run-names.ts';
import { lengthOf, Moment } from '../../frame/moment.tsx';
import { paths } from '../../frame/paths.ts';
import { DataTable, type Column } from './data-table.tsx';
import { Pill } from './pill.tsx';
import { runStates } from './states.ts';

/** Runs and their results, all streams together. */
export function RunTable({
  runs,
  now,
  ofConnection = false,
}: {
  runs: readonly RunRead[];
  now: Date;
  /** True if all rows are of one connection, which the page names. */
  ofConnection?: boolean;
}): VNode {
  return (
    <DataTable
      caption="Runs"
      columns={columnsAt(now)}
      rows={runs}
      keyOf={({ run_id }) => `run-${run_id}`}
      empty="There are no runs yet."
      without={ofConnection ? 'Connection' : undefined}
    />
  );
}

function columnsAt(now: Date): Column<RunRead>[] {
  return [
    {
      head: 'Run',
      kind: 'name',
      cell: ({ run_id, kind, started_at }) => (
        <>
          <a href={paths.run(run_id)}>{runNames[kind]}</a>{' '}
          <span class="aside">
            <Moment at={started_at} now={now} />
          </span>
        </>
      ),
    },
    {
      head: 'Connection',
      cell: ({ connection_id: name }) => (name === null ? null : <a href={paths.connection(name)}>{name}</a>),
    },
    { head: 'State', cell: ({ status }) => <Pill state={runStates[status]} /> },
    { head: 'Took', kind: 'number', cell: (run) => lengthOf(millisecondsOf(run, now)) },
    ...counted.map(({ head, count }): Column<RunRead> => ({
      head,
      kind: 'number',
      cell: (run) => sumOf(run, count),
    })),
  ];
}

const counted = [
  { head: 'Requests', count: 'requests' },
  { head: 'Read', count: 'read' },
  { head: 'New', count: 'inserted' },
  { head: 'Changed', count: 'updated' },
  { head: 'Deleted', count: 'deleted' },
  { head: 'Quarantined', count: 'quarantined' },
] as const;

export function sumOf({ streams }: RunRead, count: (typeof counted)[number]['count']): number {
  return streams.reduce((sum, stream: RunStreamRead) => sum + stream[count], 0);
}

export function millisecondsOf(
  { started_at, finished_at }: { started_at: Date; finished_at: Date | null },
  now: Date,
): number {
  return (finished_at ?? now).getTime() - started_at.getTime();
}
