import type { Selectable } from 'kysely';
import type { VNode } from 'preact';
import type { DiscrepanciesTable } from '../../../warehouse/tables/discrepancies.ts';
import { Moment } from '../../frame/moment.tsx';
import { paths } from '../../frame/paths.ts';
import { DataTable, type Column } from './data-table.tsx';
import { Pill } from './pill.tsx';
import { discrepancyStates } from './states.ts';

type Discrepancy = Selectable<DiscrepanciesTable>;

/** Differences between source and warehouse, and their outcome. */
export function DiscrepancyTable({
  found,
  now,
  ofConnection = false,
}: {
  found: readonly Discrepancy[];
  now: Date;
  /** True if all rows are of one connection, which the page names. */
  ofConnection?: boolean;
}): VNode {
  return (
    <DataTable
      caption="Discrepancies"
      columns={columnsAt(now)}
      rows={found}
      keyOf={({ id }) => `discrepancy-${id}`}
      empty="No reconcile has found a difference."
      without={ofConnection ? 'Connection' : undefined}
    />
  );
}

function columnsAt(now: Date): Column<Discrepancy>[] {
  return [
    {
      head: 'Record',
      kind: 'name',
      cell: ({ resource, record_id: record }) => (
        <>
          {resource} <code>{record}</code>
        </>
      ),
    },
    {
      head: 'Connection',
      cell: ({ connection_id: name }) => <a href={paths.connection(name)}>{name}</a>,
    },
    { head: 'Difference', cell: ({ kind }) => meanings[kind] },
    { head: 'State', cell: ({ status }) => <Pill state={discrepancyStates[status]} /> },
    { head: 'How it was closed', kind: 'text', cell: ({ closed_why: why }) => why },
    {
      head: 'Found',
      cell: ({ found_at: at, run_id }) => (
        <a href={paths.run(run_id)}>
          <Moment at={at} now={now} />
        </a>
      ),
    },
  ];
}

const meanings: Readonly<Record<Discrepancy['kind'], string>> = {
  missing: 'missing here',
  stale: 'older here',
  damaged: 'damaged here',
  extra: 'gone at the source',
  ahead: 'listed in an older version',
};
