import type { VNode } from 'preact';
import type { StreamStatus } from '../../../warehouse/connections/read-status.ts';
import { Moment } from '../../frame/moment.tsx';
import { DataTable, type Column } from './data-table.tsx';
import { Pill } from './pill.tsx';
import { streamStates } from './states.ts';

type Held = Readonly<Record<string, number>> | undefined;

/** The progress of each list of a connection, and its number of records. */
export function StreamTable({
  streams,
  held,
  now,
}: {
  streams: readonly StreamStatus[];
  held: Held;
  now: Date;
}): VNode {
  return (
    <DataTable
      caption="Streams"
      columns={columnsAt(now, held)}
      rows={streams}
      keyOf={({ stream }) => `stream-${stream}`}
      empty="There are no streams."
    />
  );
}

function columnsAt(now: Date, held: Held): Column<StreamStatus>[] {
  return [
    { head: 'Stream', kind: 'name', cell: ({ stream }) => stream },
    { head: 'State', cell: ({ state }) => <Pill state={streamStates[state]} /> },
    { head: 'Records held', kind: 'number', cell: (stream) => heldOf(stream, held) },
    { head: 'Complete up to', cell: ({ watermark: at }) => <Moment at={at} now={now} /> },
    { head: 'Last success', cell: ({ last_success_at: at }) => <Moment at={at} now={now} /> },
    { head: 'Reconciled', cell: (stream) => <Reconciled {...stream} now={now} /> },
  ];
}

function Reconciled({
  last_reconcile_at: at,
  reconcile_wanted_at: wanted,
  now,
}: StreamStatus & { now: Date }): VNode {
  return (
    <>
      <Moment at={at} now={now} />
      {wanted === null ? null : ' · wanted again, by the next sync'}
    </>
  );
}

/** Records are counted by resource, so the records of two streams are shown in the row of the stream named like the resource. */
function heldOf({ stream, resource }: StreamStatus, held: Held): number | string {
  if (resource === null) return '';
  if (resource !== stream) return `in ${resource}`;
  return held?.[resource] ?? 'too many to count';
}
